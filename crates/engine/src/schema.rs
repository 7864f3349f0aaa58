//! stub
use crate::attr::AttrMap;
use crate::cel::Pool;
use alloc::string::String;
use alloc::vec::Vec;
#[allow(missing_docs)]
pub struct Schemas<'a> {
    pub pool: Pool<'a>,
    pub words: &'a [u32],
}
#[allow(missing_docs)]
pub struct Violation {
    pub path: String,
    pub message: String,
}
impl Schemas<'_> {
    #[allow(missing_docs)]
    pub fn violations(&self, _node: u32, _attributes: &AttrMap) -> Vec<Violation> {
        Vec::new()
    }
}
