//! The interface of mosquitto 2, plugin version 5, after its headers `mosquitto_plugin.h` and
//! `mosquitto_broker.h`: the only file with `unsafe` code.
//!
//! Here C becomes Rust and back; nothing is decided. No panic leaves: one would deny, and the
//! profile `plugin` of the workspace unwinds for that. mosquitto calls from one thread, but may call
//! again while the plugin writes to its log, so the plugin is borrowed for each answer and no longer.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::time::Instant;

use wardgate_native::SystemClock;

use crate::limits::MAX_OPTIONS;
use crate::log::{Level, Line};
use crate::options::Options;
use crate::plugin::{Answer, Plugin};
use crate::request::{Access, Client, Message};

/// `struct mosquitto`, of which only mosquitto knows the content.
#[repr(C)]
struct Mosquitto {
    _private: [u8; 0],
}

/// `mosquitto_plugin_id_t`, likewise.
#[repr(C)]
struct PluginId {
    _private: [u8; 0],
}

/// `struct mosquitto_opt`.
#[repr(C)]
struct Opt {
    key: *const c_char,
    value: *const c_char,
}

/// `struct mosquitto_evt_acl_check`.
#[repr(C)]
struct AclCheck {
    future: *mut c_void,
    client: *mut Mosquitto,
    topic: *const c_char,
    payload: *const c_void,
    properties: *mut c_void,
    access: c_int,
    payload_length: u32,
    qos: u8,
    /// A `bool` of C.
    retain: u8,
    future2: [*mut c_void; 4],
}

/// `struct mosquitto_evt_basic_auth`.
#[repr(C)]
struct BasicAuth {
    future: *mut c_void,
    client: *mut Mosquitto,
    user_name: *const c_char,
    password: *const c_char,
    future2: [*mut c_void; 4],
}

/// `struct mosquitto_evt_tick`, where a time of C has eight bytes for certain.
#[cfg(target_pointer_width = "64")]
#[repr(C)]
struct Tick {
    future: *mut c_void,
    now_fraction: c_long,
    next_fraction: c_long,
    now_seconds: c_long,
    next_seconds: c_long,
    future2: [*mut c_void; 4],
}

/// `MOSQ_FUNC_generic_callback`: the event, its data, and the data of the plugin.
type Callback = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) -> c_int;

unsafe extern "C" {
    fn mosquitto_callback_register(
        identifier: *mut PluginId,
        event: c_int,
        callback: Callback,
        event_data: *const c_void,
        user_data: *mut c_void,
    ) -> c_int;
    fn mosquitto_callback_unregister(
        identifier: *mut PluginId,
        event: c_int,
        callback: Callback,
        event_data: *const c_void,
    ) -> c_int;
    fn mosquitto_log_printf(level: c_int, format: *const c_char, ...);
    fn mosquitto_client_address(client: *const Mosquitto) -> *const c_char;
    fn mosquitto_client_clean_session(client: *const Mosquitto) -> bool;
    fn mosquitto_client_id(client: *const Mosquitto) -> *const c_char;
    fn mosquitto_client_keepalive(client: *const Mosquitto) -> c_int;
    fn mosquitto_client_protocol_version(client: *const Mosquitto) -> c_int;
    fn mosquitto_client_username(client: *const Mosquitto) -> *const c_char;
    fn mosquitto_set_username(client: *mut Mosquitto, user_name: *const c_char) -> c_int;
}

/// The data of the plugin that mosquitto keeps.
struct Shared {
    identifier: *mut PluginId,
    plugin: RefCell<Plugin>,
}

/// Chooses the version of the interface.
///
/// # Safety
/// `versions` has `count` numbers.
#[unsafe(no_mangle)]
unsafe extern "C" fn mosquitto_plugin_version(count: c_int, versions: *const c_int) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    if versions.is_null() {
        return UNSUPPORTED;
    }
    // SAFETY: the caller passes so many numbers.
    let versions = unsafe { std::slice::from_raw_parts(versions, count) };
    if versions.contains(&VERSION) { VERSION } else { UNSUPPORTED }
}

/// Opens the plugin. A number above 0 keeps mosquitto from starting.
///
/// # Safety
/// The arguments are those of mosquitto: `options` has `count` pairs of texts, and `user_data` is
/// where to put the data of the plugin.
#[unsafe(no_mangle)]
unsafe extern "C" fn mosquitto_plugin_init(
    identifier: *mut PluginId,
    user_data: *mut *mut c_void,
    options: *const Opt,
    count: c_int,
) -> c_int {
    guarded(ERR_UNKNOWN, || {
        // SAFETY: the caller passes so many options.
        let opened = unsafe { options_of(options, count) }
            .and_then(|options| Plugin::open(&options, &SystemClock))
            // SAFETY: the identifier is the one of this plugin.
            .and_then(|plugin| unsafe { register(identifier, plugin) });
        match opened {
            Ok(shared) => {
                // SAFETY: the caller passes the place of the data, which `register` made.
                unsafe { *user_data = shared.cast_mut().cast() };
                // SAFETY: `register` made it, and it is not freed before the clean-up.
                write_lines(unsafe { &*shared });
                SUCCESS
            }
            Err(why) => {
                log(&Line::new(Level::Error, why));
                ERR_INVAL
            }
        }
    })
}

/// Frees the plugin.
///
/// # Safety
/// `user_data` is what `mosquitto_plugin_init` has put there, and no call uses it any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn mosquitto_plugin_cleanup(
    user_data: *mut c_void,
    _options: *const Opt,
    _count: c_int,
) -> c_int {
    if user_data.is_null() {
        return SUCCESS;
    }
    // SAFETY: it came from `Box::into_raw` in `register`, and is freed once.
    let shared = unsafe { Box::from_raw(user_data.cast::<Shared>()) };
    // SAFETY: the identifier is that of `register`.
    unsafe { unregister(shared.identifier) };
    SUCCESS
}

/// Registers the events, and returns the data of the plugin.
///
/// # Safety
/// `identifier` is that of the plugin.
unsafe fn register(identifier: *mut PluginId, plugin: Plugin) -> Result<*const Shared, String> {
    let shared = Box::into_raw(Box::new(Shared { identifier, plugin: RefCell::new(plugin) }));
    for (event, callback) in EVENTS {
        // SAFETY: the callbacks take the data that is registered with them.
        let outcome = unsafe {
            mosquitto_callback_register(identifier, *event, *callback, ptr::null(), shared.cast())
        };
        if outcome != SUCCESS {
            // SAFETY: the identifier is that of the plugin.
            unsafe { unregister(identifier) };
            // SAFETY: made above, and no event knows it any more.
            drop(unsafe { Box::from_raw(shared) });
            return Err(format!(
                "event {event} cannot be registered (code {outcome}): is the plugin there twice?"
            ));
        }
    }
    Ok(shared)
}

/// Takes all events back.
///
/// # Safety
/// `identifier` is that of the plugin.
unsafe fn unregister(identifier: *mut PluginId) {
    for (event, callback) in EVENTS {
        // SAFETY: one that was not registered is not found, which is no error here.
        unsafe { mosquitto_callback_unregister(identifier, *event, *callback, ptr::null()) };
    }
}

unsafe extern "C" fn on_basic_auth(_: c_int, data: *mut c_void, user_data: *mut c_void) -> c_int {
    guarded(ERR_AUTH, || {
        // SAFETY: mosquitto passes the data of this event, and what was registered with it.
        let (event, shared) = unsafe { (&*data.cast::<BasicAuth>(), &*user_data.cast::<Shared>()) };
        // SAFETY: the client and the texts of an event are valid until it returns.
        let answer = unsafe { authenticate(event, shared) };
        let code = match answer {
            Answer::Refuse => ERR_AUTH,
            Answer::Defer => ERR_PLUGIN_DEFER,
            // SAFETY: the client of an event is valid until it returns.
            Answer::Accept(name) => unsafe { set_user_name(event.client, &name) },
        };
        write_lines(shared);
        code
    })
}

/// # Safety
/// The client and the texts of `event` are valid.
unsafe fn authenticate(event: &BasicAuth, shared: &Shared) -> Answer {
    // SAFETY: as above.
    let (client, password) = unsafe { (client_of(event.client), text_of(event.password)) };
    let (Some(client), Ok(password)) = (client, password) else { return Answer::Refuse };
    match shared.plugin.try_borrow_mut() {
        Ok(mut plugin) => plugin.authenticate(&client, password, &SystemClock),
        Err(_) => Answer::Refuse,
    }
}

/// # Safety
/// `client` is valid.
unsafe fn set_user_name(client: *mut Mosquitto, name: &str) -> c_int {
    let Ok(name) = CString::new(name) else { return ERR_AUTH };
    // SAFETY: mosquitto copies the name.
    let outcome = unsafe { mosquitto_set_username(client, name.as_ptr()) };
    if outcome == SUCCESS { SUCCESS } else { ERR_AUTH }
}

unsafe extern "C" fn on_acl_check(_: c_int, data: *mut c_void, user_data: *mut c_void) -> c_int {
    guarded(ERR_ACL_DENIED, || {
        // SAFETY: mosquitto passes the data of this event, and what was registered with it.
        let (event, shared) = unsafe { (&*data.cast::<AclCheck>(), &*user_data.cast::<Shared>()) };
        // SAFETY: the client and the texts of an event are valid until it returns.
        let is_allowed = unsafe { allows(event, shared) };
        if is_allowed { SUCCESS } else { ERR_ACL_DENIED }
    })
}

/// # Safety
/// The client and the texts of `event` are valid.
unsafe fn allows(event: &AclCheck, shared: &Shared) -> bool {
    // SAFETY: as above.
    let (client, topic) = unsafe { (client_of(event.client), text_of(event.topic)) };
    let (Some(client), Ok(Some(topic))) = (client, topic) else { return false };
    let (qos, retain, size) = (event.qos, event.retain != 0, event.payload_length);
    let message = Message { topic, qos, retain, size };
    let access = match event.access {
        ACL_READ => Access::Receive(message),
        ACL_WRITE => Access::Publish(message),
        ACL_SUBSCRIBE => Access::Subscribe(topic, qos),
        ACL_UNSUBSCRIBE => Access::Unsubscribe(topic),
        _ => return false,
    };
    let plugin = shared.plugin.try_borrow_mut();
    plugin.is_ok_and(|mut plugin| plugin.allows(&client, &access, &SystemClock))
}

/// Refuses authentication by AUTH: the user name beside it would be a mere claim.
unsafe extern "C" fn on_extended_auth(_: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    ERR_NOT_SUPPORTED
}

unsafe extern "C" fn on_tick(_: c_int, data: *mut c_void, user_data: *mut c_void) -> c_int {
    // SAFETY: mosquitto passes what was registered with the event.
    unsafe { work(user_data, |plugin| plugin.tick(Instant::now(), &SystemClock)) };
    // mosquitto 2.0 calls at every turn of its loop, 2.1 when it is asked to.
    #[cfg(target_pointer_width = "64")]
    // SAFETY: mosquitto passes the data of this event, which the plugin may change.
    unsafe {
        (*data.cast::<Tick>()).next_seconds = 1;
    }
    #[cfg(not(target_pointer_width = "64"))]
    let _ = data;
    SUCCESS
}

/// Reads the files anew. mosquitto 2.1 takes any other code for an error that ends it; 2.0 then asks
/// no plugin behind this one.
unsafe extern "C" fn on_reload(_: c_int, _: *mut c_void, user_data: *mut c_void) -> c_int {
    // SAFETY: mosquitto passes what was registered with the event.
    unsafe { work(user_data, |plugin| plugin.reload(&SystemClock)) };
    SUCCESS
}

/// # Safety
/// `user_data` is the data of the plugin.
unsafe fn work(user_data: *mut c_void, work: impl FnOnce(&mut Plugin)) {
    guarded(SUCCESS, || {
        // SAFETY: as above.
        let shared = unsafe { &*user_data.cast::<Shared>() };
        if let Ok(mut plugin) = shared.plugin.try_borrow_mut() {
            work(&mut plugin);
        }
        write_lines(shared);
        SUCCESS
    });
}

/// Returns what mosquitto tells of a client. Returns None if it has no id, or if a text of it is
/// not UTF-8.
///
/// # Safety
/// `client` is valid or null, and its texts stay as they are for `'c`.
unsafe fn client_of<'c>(client: *const Mosquitto) -> Option<Client<'c>> {
    if client.is_null() {
        return None;
    }
    // SAFETY: the functions read the client, which is valid.
    unsafe {
        Some(Client {
            id: text_of(mosquitto_client_id(client)).ok()??,
            name: text_of(mosquitto_client_username(client)).ok()?,
            address: text_of(mosquitto_client_address(client)).ok()?,
            level: u8::try_from(mosquitto_client_protocol_version(client)).unwrap_or(0),
            keep_alive: u16::try_from(mosquitto_client_keepalive(client)).unwrap_or(0),
            clean_start: mosquitto_client_clean_session(client),
        })
    }
}

/// # Safety
/// `options` has `count` pairs of texts.
unsafe fn options_of(options: *const Opt, count: c_int) -> Result<Options, String> {
    let count = usize::try_from(count).unwrap_or(0);
    let mut pairs = Vec::new();
    for at in 0..count.min(MAX_OPTIONS + 1) {
        // SAFETY: there are more options than `at`.
        let option = unsafe { &*options.add(at) };
        // SAFETY: options are valid as long as the plugin is.
        let pair = unsafe { (text_of(option.key), text_of(option.value)) };
        let (Ok(Some(key)), Ok(value)) = pair else {
            return Err("an option is not text in UTF-8".to_owned());
        };
        pairs.push((key, value.unwrap_or_default()));
    }
    Options::read(pairs.into_iter())
}

/// A text is not UTF-8.
struct NotUtf8;

/// Returns a text of C, which may be absent.
///
/// # Safety
/// `text` is null, or ends with a zero and stays as it is for `'t`.
unsafe fn text_of<'t>(text: *const c_char) -> Result<Option<&'t str>, NotUtf8> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().map(Some).map_err(|_| NotUtf8)
}

/// Writes the lines of the plugin, which is not borrowed meanwhile: see the module `log`.
fn write_lines(shared: &Shared) {
    let lines = shared.plugin.try_borrow_mut().map(|mut plugin| plugin.take_lines());
    lines.unwrap_or_default().iter().for_each(log);
}

fn log(line: &Line) {
    let level = match line.level {
        Level::Info => LOG_INFO,
        Level::Notice => LOG_NOTICE,
        Level::Warning => LOG_WARNING,
        Level::Error => LOG_ERR,
    };
    // Lines have no control characters, and so no zero.
    let Ok(text) = CString::new(line.text.as_str()) else { return };
    // SAFETY: the format takes one text, which ends with a zero.
    unsafe { mosquitto_log_printf(level, c"%s".as_ptr(), text.as_ptr()) };
}

/// Returns the answer, or `instead` if there was a panic.
fn guarded(instead: c_int, answer: impl FnOnce() -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or(instead)
}

/// `MOSQ_EVT_...`.
const EVENTS: &[(c_int, Callback)] =
    &[(1, on_reload), (2, on_acl_check), (3, on_basic_auth), (4, on_extended_auth), (9, on_tick)];

/// `MOSQ_PLUGIN_VERSION`.
const VERSION: c_int = 5;
const UNSUPPORTED: c_int = -1;

/// `MOSQ_ERR_...`.
const SUCCESS: c_int = 0;
const ERR_INVAL: c_int = 3;
const ERR_NOT_SUPPORTED: c_int = 10;
const ERR_AUTH: c_int = 11;
const ERR_ACL_DENIED: c_int = 12;
const ERR_UNKNOWN: c_int = 13;
const ERR_PLUGIN_DEFER: c_int = 17;

/// `MOSQ_ACL_...`.
const ACL_READ: c_int = 1;
const ACL_WRITE: c_int = 2;
const ACL_SUBSCRIBE: c_int = 4;
const ACL_UNSUBSCRIBE: c_int = 8;

/// `MOSQ_LOG_...`.
const LOG_INFO: c_int = 1;
const LOG_NOTICE: c_int = 2;
const LOG_WARNING: c_int = 4;
const LOG_ERR: c_int = 8;

// The layout of the headers on a machine with pointers of eight bytes.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<AclCheck>() == 88 && std::mem::offset_of!(AclCheck, retain) == 49);
    assert!(size_of::<Tick>() == 72 && std::mem::offset_of!(Tick, next_seconds) == 32);
    assert!(size_of::<BasicAuth>() == 64 && std::mem::offset_of!(BasicAuth, password) == 24);
};
