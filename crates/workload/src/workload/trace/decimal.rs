//! Decimal numbers, exactly: a date of 19 digits does not fit a float.

/// Digits that are kept. More of them say nothing that a trace could mean.
const DIGITS: u32 = 30;

/// The number times ten to `power`, rounded to the nearest whole number. `None`: it is no number, or a larger one than fits.
pub(super) fn scaled(text: &str, power: i32) -> Option<i128> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent) = match digits.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut number, mut kept, mut power) = (0_i128, 0, power.checked_add(exponent)?);
    for (digit, is_fraction) in whole.bytes().map(|d| (d, false)).chain(fraction.bytes().map(|d| (d, true))) {
        if !digit.is_ascii_digit() {
            return None;
        }
        if kept < DIGITS {
            number = number * 10 + i128::from(digit - b'0');
            kept += u32::from(number != 0);
            power -= i32::from(is_fraction);
        } else {
            power = power.checked_add(i32::from(!is_fraction))?;
        }
    }
    let number = shifted(number, power)?;
    Some(if negative { -number } else { number })
}

/// A number of no sign times ten to `power`.
fn shifted(number: i128, power: i32) -> Option<i128> {
    if number == 0 {
        return Some(0);
    }
    let ten = 10_i128.checked_pow(power.unsigned_abs());
    match (power >= 0, ten) {
        (true, ten) => number.checked_mul(ten?),
        (false, None) => Some(0),
        (false, Some(ten)) => Some((number + ten / 2) / ten),
    }
}

/// A number as it is printed: its value, and half of its last digit.
pub(super) fn printed(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = text.parse::<f64>().ok().filter(|value| plain && value.is_finite())?;
    let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    Some((value, 0.5 * 10_f64.powi(-i32::try_from(decimals).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_digit_of_a_date_is_lost() {
        assert_eq!(scaled("1682725898236567.123", 3), Some(1_682_725_898_236_567_123));
        assert_eq!(scaled("4458676522690.655", 3), Some(4_458_676_522_690_655));
        assert_eq!(scaled("1.5", 0), Some(2));
        assert_eq!(scaled("-2.25e2", 0), Some(-225));
        assert_eq!(scaled("1e-400", 0), Some(0));
        assert_eq!(scaled("0e2000000000", 9), Some(0));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", ".", "-", "1,5", "nan", "inf", "1e", "1e99999999999", "0x10", "1.2.3", "1e400"] {
            assert_eq!(scaled(text, 3), None, "{text}");
        }
        assert_eq!([printed("-1"), printed("1e3"), printed("")], [None; 3]);
        assert_eq!(printed("6.944"), Some((6.944, 0.0005)));
    }

    proptest! {
        #[test]
        fn whole_numbers_come_back(number: i64, zeros in 0_usize..40) {
            prop_assert_eq!(scaled(&number.to_string(), 0), Some(i128::from(number)));
            prop_assert_eq!(scaled(&format!("{number}.{}", "0".repeat(zeros)), 3), Some(i128::from(number) * 1000));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9eE.+-]{0,60}", power in -20_i32..20) {
            let _ = (scaled(&text, power), printed(&text));
        }
    }
}
