//! Files that must be text: where they are not, the place is named.

use std::fmt;

/// The first byte of a file that is not UTF-8 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotText {
    /// Its line, counted from 1.
    pub line: usize,
    /// Its position in the file, counted from 0.
    pub offset: usize,
    /// The byte.
    pub byte: u8,
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotText { offset, byte, .. } = self;
        write!(f, "not UTF-8 text: byte 0x{byte:02x} at offset {offset}")
    }
}

/// The bytes as text.
pub fn text(bytes: &[u8]) -> Result<&str, NotText> {
    std::str::from_utf8(bytes).map_err(|e| {
        let offset = e.valid_up_to();
        let lines = bytes[..offset].iter().filter(|b| **b == b'\n');
        NotText {
            line: 1 + lines.count(),
            offset,
            byte: bytes[offset],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_byte_is_found() {
        assert_eq!(text("größe\n".as_bytes()), Ok("größe\n"));
        let error = text(b"a\nb\n\xc3\xb6\xff\n\xff").unwrap_err();
        assert_eq!((error.line, error.offset, error.byte), (3, 6, 0xff));
        assert_eq!(error.to_string(), "not UTF-8 text: byte 0xff at offset 6");
        // A letter that is cut off at the end of the file.
        assert_eq!(text(b"ab\xc3").unwrap_err().offset, 2);
    }
}
