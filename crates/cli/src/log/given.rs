//! Requests that are given beside a log, which has only the digests of some.

use std::collections::HashMap;
use std::path::Path;

use wardgate_decision_log::record::request_digest;
use wardgate_engine::request::Request;
use wardgate_native::decision_log::canonical_request;

use crate::failure::{Failure, Result, Status};
use crate::requests;

/// Requests in the form of an evidence, by their digests.
#[derive(Default)]
pub(super) struct GivenRequests {
    requests: HashMap<[u8; 32], Vec<u8>>,
    bytes: usize,
}

impl GivenRequests {
    /// Reads the requests in a file, if there is one.
    pub(super) fn read(path: Option<&Path>) -> Result<Self> {
        let mut given = Self::default();
        let Some(path) = path else { return Ok(given) };
        match requests::each(path, |mut call| call.each(|request| given.add(request)))? {
            Status::Done => Ok(given),
            status => Err(Failure::Message(status, "not all requests can be read".to_owned())),
        }
    }

    /// Adds a request with all its actions, and with each of them: some programs ask about one at a time.
    fn add(&mut self, request: &Request) -> Result<()> {
        self.add_one(request)?;
        if request.actions.len() > 1 {
            for action in &request.actions {
                self.add_one(&Request { actions: vec![action.clone()], ..request.clone() })?;
            }
        }
        Ok(())
    }

    fn add_one(&mut self, request: &Request) -> Result<()> {
        // No log has the digest of a longer one.
        let Some(bytes) = canonical_request(request) else { return Ok(()) };
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_BYTES {
            return Err(Failure::request(format!(
                "the requests take more than {MAX_BYTES} bytes of memory: give a part of them"
            )));
        }
        self.requests.insert(request_digest(&bytes), bytes);
        Ok(())
    }

    /// Returns the request of a digest, if it was given.
    pub(super) fn of_digest(&self, digest: &[u8; 32]) -> Option<&[u8]> {
        self.requests.get(digest).map(Vec::as_slice)
    }
}

/// The most bytes of all requests.
const MAX_BYTES: usize = 1 << 28;
