//! Format and dimensions of a picture from its first bytes.
//!
//! Headers are read by hand; nothing is decoded, so nothing here can be made to
//! allocate by a picture's claims about itself.

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImageHeader {
    pub format: ImageFormat,
    pub size: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageFormat {
    Png,
    Jpeg,
    Gif,
    Webp,
    Bmp,
}

impl ImageFormat {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ImageFormat::Png => "PNG image",
            ImageFormat::Jpeg => "JPEG image",
            ImageFormat::Gif => "GIF image",
            ImageFormat::Webp => "WebP image",
            ImageFormat::Bmp => "BMP image",
        }
    }

    /// `None`: providers do not look at this format.
    pub(crate) fn attached_as(self) -> Option<&'static str> {
        match self {
            ImageFormat::Png => Some("image/png"),
            ImageFormat::Jpeg => Some("image/jpeg"),
            ImageFormat::Gif => Some("image/gif"),
            ImageFormat::Webp => Some("image/webp"),
            ImageFormat::Bmp => None,
        }
    }
}

impl ImageHeader {
    /// `None` if the bytes do not begin a picture of a known format.
    pub(crate) fn from_head(head: &[u8]) -> Option<ImageHeader> {
        let image = |format, size| Some(ImageHeader { format, size });
        if head.starts_with(b"\x89PNG\r\n\x1a\n") {
            let header = head.get(12..24).filter(|header| header.starts_with(b"IHDR"));
            return image(ImageFormat::Png, header.map(|header| (be32(&header[4..]), be32(&header[8..]))));
        }
        if head.starts_with(b"\xff\xd8\xff") {
            return image(ImageFormat::Jpeg, jpeg_size(head));
        }
        if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
            return image(ImageFormat::Gif, head.get(6..10).map(|size| (le16(size), le16(&size[2..]))));
        }
        if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            return image(ImageFormat::Webp, webp_size(head));
        }
        // Two letters prove little; the size of the next header must be one that exists.
        if head.starts_with(b"BM") && matches!(head.get(14..18), Some([12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0])) {
            let old = head[14] == 12;
            let size = head.get(18..26).map(|size| match old {
                true => (le16(size), le16(&size[2..])),
                // A negative height means top row first.
                false => (le32(size), le32(&size[4..]).cast_signed().unsigned_abs()),
            });
            return image(ImageFormat::Bmp, size);
        }
        None
    }
}

fn be16(bytes: &[u8]) -> u32 {
    u32::from(u16::from_be_bytes([bytes[0], bytes[1]]))
}
fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
fn le16(bytes: &[u8]) -> u32 {
    u32::from(u16::from_le_bytes([bytes[0], bytes[1]]))
}
fn le32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// From the first start-of-frame segment.
fn jpeg_size(head: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        // Markers may be preceded by any number of fill bytes.
        while *head.get(at + 1)? == 0xff {
            at += 1;
        }
        let [0xff, marker] = *head.get(at..at + 2)? else { return None };
        match marker {
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let frame = head.get(at + 5..at + 9)?;
                return Some((be16(&frame[2..]), be16(frame)));
            }
            // Scan data or the end: no frame came before.
            0xda | 0xd9 => return None,
            _ => at += 2 + be16(head.get(at + 2..at + 4)?) as usize,
        }
    }
}

fn webp_size(head: &[u8]) -> Option<(u32, u32)> {
    let body = head.get(20..30)?;
    match head.get(12..16)? {
        b"VP8 " => Some((le16(&body[6..]) & 0x3fff, le16(&body[8..]) & 0x3fff)),
        b"VP8L" => {
            let bits = le32(&body[1..]);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let le24 = |bytes: &[u8]| le16(bytes) | u32::from(bytes[2]) << 16;
            Some((le24(&body[4..]) + 1, le24(&body[7..]) + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_come_from_the_header() {
        let size = |head: &[u8]| ImageHeader::from_head(head).map(|image| (image.format, image.size));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\x01\x02\x03\x04\x03";
        let bmp = b"BM....\0\0\0\0\x36\0\0\0\x28\0\0\0\x05\0\0\0\xfd\xff\xff\xff";
        assert_eq!(
            size(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0"),
            Some((ImageFormat::Png, Some((640, 480))))
        );
        assert_eq!(size(jpeg), Some((ImageFormat::Jpeg, Some((0x0304, 0x0102)))));
        assert_eq!(size(b"GIF89a\x07\0\x09\0"), Some((ImageFormat::Gif, Some((7, 9)))));
        assert_eq!(size(bmp), Some((ImageFormat::Bmp, Some((5, 3)))));
        assert_eq!(
            size(b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\x8f\x01\0\x2b\x01\0"),
            Some((ImageFormat::Webp, Some((400, 300))))
        );
        assert_eq!(
            size(b"RIFF\0\0\0\0WEBPVP8L\x0a\0\0\0\x2f\x8f\xc1\x4a\0\0\0\0\0\0"),
            Some((ImageFormat::Webp, Some((400, 300))))
        );
        assert_eq!(
            size(b"RIFF\0\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x90\x01\x2c\x01"),
            Some((ImageFormat::Webp, Some((400, 300))))
        );
    }

    #[test]
    fn a_header_cut_short_gives_no_dimensions_and_no_panic() {
        let whole = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc2\0\x11\x08\x01\x02\x03\x04";
        for end in 0..whole.len() {
            let image = ImageHeader::from_head(&whole[..end]);
            assert!(image.is_none_or(|image| image.size.is_none()), "{end}");
        }
        assert_eq!(ImageHeader::from_head(b"BMW and others"), None);
    }
}
