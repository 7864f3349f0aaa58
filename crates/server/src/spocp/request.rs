//! The requests of a client, read from the values of a message.
//!
//! The commands are those of draft-hedberg-spocp-00, in capital letters as it writes them, and
//! `RELOAD`. Of its paths there is only the root: the name of another set of rules is answered as
//! not supported, never ignored.

use super::codec::Values;
use super::limits::{MAX_ARGUMENTS, MAX_TOKEN_BYTES};
use super::reply::Reply;

/// One request. Expressions are still text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'b> {
    /// May this be done?
    Query(&'b [u8]),
    /// Add a rule.
    Add(&'b [u8]),
    /// Take away the rule with this id.
    Delete(&'b [u8]),
    /// Name the rules that fit these conditions.
    List(Vec<&'b [u8]>),
    /// Read the rules of the files anew.
    Reload,
    /// Collect the changes that follow.
    Begin,
    /// Make the collected changes, all or none.
    Commit,
    /// Forget the collected changes.
    Rollback,
    /// Go on encrypted.
    StartTls,
    /// Prove the identity of the client.
    Auth(&'b [u8], Option<&'b [u8]>),
    /// List the capabilities.
    Capability,
    /// End the session.
    Logout,
}

/// Reads the body of a message.
///
/// # Errors
/// The reply to a malformed one.
pub fn read(body: &[u8]) -> Result<Request<'_>, Reply> {
    let mut values = Values::of(body);
    let command = next(&mut values)?.ok_or(Reply::SyntaxError)?;
    let nothing = |request| none(values).map(|()| request);
    match command {
        b"QUERY" => one(values).map(Request::Query),
        b"ADD" => add(values),
        b"DELETE" => one(values).map(Request::Delete),
        b"LIST" => list(values),
        b"RELOAD" => nothing(Request::Reload),
        b"BEGIN" => nothing(Request::Begin),
        b"COMMIT" => nothing(Request::Commit),
        b"ROLLBACK" => nothing(Request::Rollback),
        b"STARTTLS" => nothing(Request::StartTls),
        b"CAPABILITY" => nothing(Request::Capability),
        b"LOGOUT" => nothing(Request::Logout),
        b"AUTH" => auth(values),
        b"BCOND" | b"SUBJECT" => Err(Reply::NotSupported),
        _ => Err(Reply::UnknownCommand),
    }
}

/// Reads a rule, and perhaps `NULL`: the condition that always holds. Other conditions, and values
/// to return with a rule, are not supported.
fn add(mut values: Values<'_>) -> Result<Request<'_>, Reply> {
    let rule = after_path(&mut values)?.ok_or(Reply::ArgumentError)?;
    let condition = next(&mut values)?;
    let information = next(&mut values)?;
    none(values)?;
    match (condition, information) {
        (None | Some(b"NULL"), None) => Ok(Request::Add(rule)),
        _ => Err(Reply::NotSupported),
    }
}

fn list(mut values: Values<'_>) -> Result<Request<'_>, Reply> {
    let mut conditions: Vec<_> = after_path(&mut values)?.into_iter().collect();
    for value in values {
        if conditions.len() == MAX_ARGUMENTS {
            return Err(Reply::TooManyArguments);
        }
        conditions.push(value.map_err(|_| Reply::SyntaxError)?);
    }
    Ok(Request::List(conditions))
}

fn auth(mut values: Values<'_>) -> Result<Request<'_>, Reply> {
    let mechanism = next(&mut values)?.ok_or(Reply::ArgumentError)?;
    let token = next(&mut values)?;
    none(values)?;
    if token.is_some_and(|token| token.len() > MAX_TOKEN_BYTES) {
        return Err(Reply::SizeLimitExceeded);
    }
    Ok(Request::Auth(mechanism, token))
}

fn one(mut values: Values<'_>) -> Result<&[u8], Reply> {
    let value = after_path(&mut values)?.ok_or(Reply::ArgumentError)?;
    none(values)?;
    Ok(value)
}

fn none(mut values: Values<'_>) -> Result<(), Reply> {
    match next(&mut values)? {
        None => Ok(()),
        Some(_) => Err(Reply::TooManyArguments),
    }
}

/// Returns the value behind the path, if there is one. Neither an expression nor an id begins with
/// a slash.
fn after_path<'b>(values: &mut Values<'b>) -> Result<Option<&'b [u8]>, Reply> {
    match next(values)? {
        Some(b"/") => next(values),
        Some(path) if path.starts_with(b"/") => Err(Reply::NotSupported),
        value => Ok(value),
    }
}

fn next<'b>(values: &mut Values<'b>) -> Result<Option<&'b [u8]>, Reply> {
    values.next().transpose().map_err(|_| Reply::SyntaxError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_draft_are_read() {
        let query = b"5:QUERY60:(4:http(4:page10:index.html)(6:action3:GET)(6:userid4:olav))";
        let add = b"3:ADD41:(4:http(4:page)(6:action3:GET)(6:userid))";
        let text = b"(4:http(4:page10:index.html)(6:action3:GET)(6:userid4:olav))";
        assert_eq!(read(query), Ok(Request::Query(text)));
        assert_eq!(read(add), Ok(Request::Add(b"(4:http(4:page)(6:action3:GET)(6:userid))")));
        assert_eq!(read(b"6:LOGOUT"), Ok(Request::Logout));
    }

    #[test]
    fn the_root_is_the_only_path() {
        assert_eq!(read(b"5:QUERY1:/5:(1:a)"), Ok(Request::Query(b"(1:a)")));
        assert_eq!(read(b"4:LIST1:/4:+1:a"), Ok(Request::List(vec![b"+1:a"])));
        assert_eq!(read(b"4:LIST"), Ok(Request::List(vec![])));
        assert_eq!(read(b"6:DELETE4:/bar2:ab"), Err(Reply::NotSupported));
        assert_eq!(read(b"3:ADD1:/"), Err(Reply::ArgumentError));
    }

    #[test]
    fn conditions_that_are_not_checked_are_refused() {
        assert_eq!(read(b"3:ADD5:(1:a)4:NULL"), Ok(Request::Add(b"(1:a)")));
        assert_eq!(read(b"3:ADD5:(1:a)4:time"), Err(Reply::NotSupported));
        assert_eq!(read(b"3:ADD5:(1:a)4:NULL4:info"), Err(Reply::NotSupported));
        assert_eq!(read(b"3:ADD5:(1:a)4:NULL4:info1:x"), Err(Reply::TooManyArguments));
        assert_eq!(read(b"5:BCOND3:ADD"), Err(Reply::NotSupported));
    }

    #[test]
    fn malformed_requests_get_their_reply() {
        let check = |body: &[u8], reply| assert_eq!(read(body), Err(reply), "{body:?}");
        check(b"", Reply::SyntaxError);
        check(b"QUERY", Reply::SyntaxError);
        check(b"5:QUERY-1:a", Reply::SyntaxError);
        check(b"5:QUERY99:a", Reply::SyntaxError);
        check(b"5:QUERY", Reply::ArgumentError);
        check(b"5:QUERY1:a1:b", Reply::TooManyArguments);
        check(b"6:LOGOUT1:a", Reply::TooManyArguments);
        check(b"5:query1:a", Reply::UnknownCommand);
        check(b"0:", Reply::UnknownCommand);
        check(b"4:AUTH", Reply::ArgumentError);
        let many = [&b"4:LIST"[..], &b"1:+".repeat(MAX_ARGUMENTS + 1)].concat();
        check(&many, Reply::TooManyArguments);
        let long = [&b"4:AUTH10:SASL:PLAIN5000:"[..], &[b'x'; 5000]].concat();
        check(&long, Reply::SizeLimitExceeded);
    }
}
