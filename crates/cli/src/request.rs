//! The `auxData` of a call as the command takes it: claims of tokens that were verified elsewhere.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::AuxData;
pub(crate) use wardgate_native::protocol::cerbos::Call;
use wardgate_native::protocol::cerbos::Message;
use wardgate_native::protocol::grants::GrantsCall;

/// Reads a call.
pub(crate) fn call(value: &Attr) -> Result<Call, String> {
    Call::read(value, aux_data)
}

/// Reads a request for lists of topic filters.
pub(crate) fn grants(value: &Attr) -> Result<GrantsCall, String> {
    GrantsCall::read(value, aux_data)
}

pub(crate) fn aux_data(value: &Attr) -> Result<AuxData, String> {
    let fields = Message::read(value, "auxData".to_owned(), &["jwt", "jwts"])?;
    if let (Some(_), Some(_)) = (fields.field("jwt"), fields.field("jwts")) {
        return Err("`auxData` has both `jwt` and `jwts`, expected one of them".to_owned());
    }
    refuse_token(&fields.at("jwt"), fields.field("jwt"))?;
    let given = fields.attributes("jwts")?;
    let claims = |(name, token): &(Box<str>, Attr)| {
        let path = format!("{}.{name}", fields.at("jwts"));
        refuse_token(&path, Some(token))?;
        let claims = Message::read(token, path, &["claims"])?.attributes("claims")?;
        let token = AttrMap::from_iter([("claims".into(), Attr::Map(claims))]);
        Ok((name.clone(), Attr::Map(token)))
    };
    let jwts = given.entries().iter().map(claims).collect::<Result<AttrMap, String>>()?;
    Ok(AuxData { jwt: fields.attributes("jwt")?, jwts })
}

/// An unverified token must not be taken for claims.
fn refuse_token(path: &str, value: Option<&Attr>) -> Result<(), String> {
    let Some(Attr::Map(map)) = value else { return Ok(()) };
    let is_raw = map.entries().iter().all(|(name, _)| RAW_TOKEN.contains(&name.as_ref()));
    if is_raw && map.get("token").is_some() {
        return Err(format!(
            "`{path}` holds a raw token, which this command cannot verify: \
             verify it yourself and give its claims"
        ));
    }
    Ok(())
}

const RAW_TOKEN: &[&str] = &["token", "keySetId", "key_set_id"];
