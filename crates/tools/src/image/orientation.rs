//! Determines which way up a photograph is. Cameras write it beside the picture; a picture that is
//! encoded again has to be rotated, because that note is lost.

use super::decode::Pixels;

/// What has to be done, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Orientation {
    /// Rows become columns.
    transposed: bool,
    mirrored: bool,
    upside_down: bool,
}

const ORIENTATION: u16 = 0x0112;

/// From an EXIF block; anything unusual means as it is.
pub(super) fn in_exif(exif: &[u8]) -> Orientation {
    match value(exif.strip_prefix(b"Exif\0\0").unwrap_or(exif)) {
        Some(2) => Orientation { mirrored: true, ..Orientation::default() },
        Some(3) => Orientation { mirrored: true, upside_down: true, ..Orientation::default() },
        Some(4) => Orientation { upside_down: true, ..Orientation::default() },
        Some(5) => Orientation { transposed: true, ..Orientation::default() },
        Some(6) => Orientation { transposed: true, mirrored: true, ..Orientation::default() },
        Some(7) => Orientation { transposed: true, mirrored: true, upside_down: true },
        Some(8) => Orientation { transposed: true, upside_down: true, ..Orientation::default() },
        _ => Orientation::default(),
    }
}

/// Returns the entry of the first directory of a TIFF structure.
fn value(tiff: &[u8]) -> Option<u16> {
    let little = tiff.starts_with(b"II");
    let read16 = |at: usize| {
        let bytes = tiff.get(at..at + 2)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let read32 = |at: usize| {
        let bytes = tiff.get(at..at + 4)?.try_into().ok()?;
        Some(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let directory = usize::try_from(read32(4)?).ok()?;
    let entries = usize::from(read16(directory)?);
    let entry = |index: usize| directory + 2 + index * 12;
    let found = (0..entries).map(entry).find(|at| read16(*at) == Some(ORIENTATION))?;
    read16(found + 8)
}

pub(super) fn oriented(pixels: Pixels, orientation: Orientation) -> Pixels {
    if orientation == Orientation::default() {
        return pixels;
    }
    let (old_width, old_height) = (pixels.width as usize, pixels.height as usize);
    let (width, height) = if orientation.transposed { (old_height, old_width) } else { (old_width, old_height) };
    let mut rgba = Vec::with_capacity(pixels.rgba.len());
    for y in 0..height {
        for x in 0..width {
            let x = if orientation.mirrored { width - 1 - x } else { x };
            let y = if orientation.upside_down { height - 1 - y } else { y };
            let (column, row) = if orientation.transposed { (y, x) } else { (x, y) };
            let at = (row * old_width + column) * 4;
            rgba.extend_from_slice(&pixels.rgba[at..at + 4]);
        }
    }
    Pixels { width: width as u32, height: height as u32, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of pixels 1, 2 above a row 3, 4 above a row 5, 6.
    fn turned_by(orientation: u8) -> (u32, Vec<u8>) {
        let exif =
            [b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[orientation, 0, 0, 0]].concat();
        let rgba = (1..=6).flat_map(|value| [value, 0, 0, 255]).collect();
        let oriented = oriented(Pixels { width: 2, height: 3, rgba }, in_exif(&exif));
        (oriented.width, oriented.rgba.chunks(4).map(|pixel| pixel[0]).collect())
    }

    #[test]
    fn all_eight_ways_up() {
        let expected: [(u32, [u8; 6]); 9] = [
            (2, [1, 2, 3, 4, 5, 6]),
            (2, [1, 2, 3, 4, 5, 6]),
            (2, [2, 1, 4, 3, 6, 5]),
            (2, [6, 5, 4, 3, 2, 1]),
            (2, [5, 6, 3, 4, 1, 2]),
            (3, [1, 3, 5, 2, 4, 6]),
            (3, [5, 3, 1, 6, 4, 2]),
            (3, [6, 4, 2, 5, 3, 1]),
            (3, [2, 4, 6, 1, 3, 5]),
        ];
        for (orientation, (width, pixels)) in expected.into_iter().enumerate() {
            assert_eq!(turned_by(orientation as u8), (width, pixels.to_vec()), "{orientation}");
        }
        for cut in 0..20 {
            in_exif(&b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03"[..cut]);
        }
    }
}
