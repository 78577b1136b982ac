//! Enumerations with a word for each variant.

/// An enumeration whose variants have a word each, as outputs and files have it. It gets `ALL`, in order, and `name`.
///
/// ```
/// sealsim_units::named! {
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     enum Way {
///         Up = "host_to_device",
///         Down = "device_to_host",
///     }
/// }
/// assert_eq!(Way::ALL.map(Way::name), ["host_to_device", "device_to_host"]);
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$of])* $variant,)+
        }

        #[allow(dead_code)]
        impl $name {
            /// All of them, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word for it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
