//! State shared by the calls into the module: it has one thread, and each test has its own.

/// Declares a static that only one thread can see, used as `NAME.with(|value| ...)`.
macro_rules! shared {
    (static $name:ident: $type:ty = $value:expr) => {
        #[cfg(target_arch = "wasm32")]
        static $name: $crate::shared::Shared<$type> = $crate::shared::Shared($value);
        #[cfg(not(target_arch = "wasm32"))]
        std::thread_local!(static $name: $type = const { $value });
    };
}
pub(crate) use shared;

#[cfg(target_arch = "wasm32")]
pub(crate) struct Shared<T>(pub(crate) T);

// SAFETY: the module is built without the `atomics` feature, so it has one thread.
#[cfg(target_arch = "wasm32")]
unsafe impl<T> Sync for Shared<T> {}

#[cfg(target_arch = "wasm32")]
impl<T> Shared<T> {
    #[inline]
    pub(crate) fn with<R>(&self, work: impl FnOnce(&T) -> R) -> R {
        work(&self.0)
    }
}
