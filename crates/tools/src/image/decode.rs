//! Pixels from files and files from pixels. Four formats in, two out; each decoder gets
//! the same limits in its own words.

use super::orientation::{self, Orientation};
use super::{ImageError, ImageFormat, MAX_PIXELS, bounded};
use gif::{ColorOutput, DecodeOptions, MemoryLimit};
use jpeg_encoder::ColorType;
use std::fmt::Display;
use std::io::Cursor;
use std::num::NonZeroU64;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Red, green, blue and opacity of every pixel, a byte each, row by row.
pub(super) struct Pixels {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

impl Pixels {
    pub(crate) fn is_transparent(&self) -> bool {
        self.rgba.chunks_exact(4).any(|pixel| pixel[3] < 255)
    }
}

const MAX_MEMORY: usize = MAX_PIXELS as usize * 4;
/// The edge of a picture, before its pixels are counted.
const LONGEST: usize = 65_535;

fn unreadable(error: impl Display) -> ImageError {
    ImageError::Unreadable(error.to_string())
}

pub(super) fn pixels(format: ImageFormat, bytes: &[u8]) -> Result<(Pixels, Orientation), ImageError> {
    match format {
        ImageFormat::Png => Ok((png(bytes)?, Orientation::default())),
        ImageFormat::Jpeg => jpeg(bytes),
        ImageFormat::Gif => Ok((gif(bytes)?, Orientation::default())),
        ImageFormat::Webp => Ok((webp(bytes)?, Orientation::default())),
        ImageFormat::Bmp => Err(ImageError::Unknown),
    }
}

fn png(bytes: &[u8]) -> Result<Pixels, ImageError> {
    use png::{ColorType, Decoder, Limits, Transformations};
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: MAX_MEMORY });
    decoder.set_ignore_text_chunk(true);
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(unreadable)?;
    let (width, height) = reader.info().size();
    bounded(width, height)?;
    let size = reader.output_buffer_size().ok_or_else(|| unreadable("its size cannot be determined"))?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(unreadable)?;
    buffer.truncate(info.buffer_size());
    let rgba = match info.color_type {
        ColorType::Rgba => buffer,
        ColorType::GrayscaleAlpha => {
            buffer.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect()
        }
        other => return Err(unreadable(format_args!("its colours are {other:?}"))),
    };
    whole(width, height, rgba)
}

fn jpeg(bytes: &[u8]) -> Result<(Pixels, Orientation), ImageError> {
    let options = DecoderOptions::new_safe()
        .set_max_width(LONGEST)
        .set_max_height(LONGEST)
        .set_strict_mode(false)
        .jpeg_set_out_colorspace(ColorSpace::RGBA);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(unreadable)?;
    let info = decoder.info().ok_or_else(|| unreadable("its size cannot be determined"))?;
    let (width, height) = (u32::from(info.width), u32::from(info.height));
    bounded(width, height)?;
    let orientation = decoder.exif().map(|exif| orientation::in_exif(exif)).unwrap_or_default();
    let rgba = decoder.decode().map_err(unreadable)?;
    Ok((whole(width, height, rgba)?, orientation))
}

/// Returns the first frame, where it stands on the canvas.
fn gif(bytes: &[u8]) -> Result<Pixels, ImageError> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    options.set_memory_limit(MemoryLimit::Bytes(NonZeroU64::new(MAX_MEMORY as u64).expect("it is not zero")));
    options.check_frame_consistency(true);
    let mut decoder = options.read_info(bytes).map_err(unreadable)?;
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    bounded(width, height)?;
    let frame = decoder.read_next_frame().map_err(unreadable)?.ok_or_else(|| unreadable("it has no frame"))?;
    if (u32::from(frame.width), u32::from(frame.height)) == (width, height) {
        return whole(width, height, frame.buffer.to_vec());
    }
    let mut rgba = vec![0; width as usize * height as usize * 4];
    let (line, left) = (usize::from(frame.width) * 4, usize::from(frame.left) * 4);
    if line > 0 {
        for (row, pixels) in frame.buffer.chunks_exact(line).enumerate() {
            let at = (row + usize::from(frame.top)) * width as usize * 4 + left;
            rgba[at..at + line].copy_from_slice(pixels);
        }
    }
    whole(width, height, rgba)
}

fn webp(bytes: &[u8]) -> Result<Pixels, ImageError> {
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(unreadable)?;
    let (width, height) = decoder.dimensions();
    bounded(width, height)?;
    decoder.set_memory_limit(MAX_MEMORY);
    let size = decoder.output_buffer_size().ok_or_else(|| unreadable("its size cannot be determined"))?;
    let mut buffer = vec![0; size];
    decoder.read_image(&mut buffer).map_err(unreadable)?;
    let rgba = match decoder.has_alpha() {
        true => buffer,
        false => buffer.chunks_exact(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect(),
    };
    whole(width, height, rgba)
}

/// Checks that a decoder returned what its header promised; everything later relies on it.
fn whole(width: u32, height: u32, rgba: Vec<u8>) -> Result<Pixels, ImageError> {
    match rgba.len() == width as usize * height as usize * 4 {
        true => Ok(Pixels { width, height, rgba }),
        false => Err(unreadable("its pixels do not fit its size")),
    }
}

pub(super) fn to_png(pixels: &Pixels) -> Result<Vec<u8>, ImageError> {
    let opaque = !pixels.is_transparent();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixels.width, pixels.height);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    let mut writer = encoder.write_header().map_err(unreadable)?;
    let written = match opaque {
        true => writer.write_image_data(&on_white(pixels)),
        false => writer.write_image_data(&pixels.rgba),
    };
    written.map_err(unreadable)?;
    writer.finish().map_err(unreadable)?;
    Ok(bytes)
}

/// Encodes as JPEG. Transparent pixels are drawn on white.
pub(super) fn to_jpeg(pixels: &Pixels, quality: u8) -> Result<Vec<u8>, ImageError> {
    let (Ok(width), Ok(height)) = (u16::try_from(pixels.width), u16::try_from(pixels.height)) else {
        return Err(unreadable("it is too large for a JPEG picture"));
    };
    let mut bytes = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality);
    encoder.encode(&on_white(pixels), width, height, ColorType::Rgb).map_err(unreadable)?;
    Ok(bytes)
}

fn on_white(pixels: &Pixels) -> Vec<u8> {
    let opaque = |pixel: &[u8]| {
        let alpha = u32::from(pixel[3]);
        let mix = |colour: u8| ((u32::from(colour) * alpha + 255 * (255 - alpha) + 127) / 255) as u8;
        [mix(pixel[0]), mix(pixel[1]), mix(pixel[2])]
    };
    pixels.rgba.chunks_exact(4).flat_map(opaque).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_gives_its_pixels() {
        let red = Pixels { width: 3, height: 2, rgba: [255, 0, 0, 255].repeat(6) };
        let (png, _) = pixels(ImageFormat::Png, &to_png(&red).unwrap()).unwrap();
        assert_eq!(png.rgba, red.rgba);
        let (jpeg, _) = pixels(ImageFormat::Jpeg, &to_jpeg(&red, 100).unwrap()).unwrap();
        assert!(jpeg.rgba.chunks(4).all(|pixel| pixel[0] > 250 && pixel[1] < 5 && pixel[3] == 255));
        let mut bytes = Vec::new();
        image_webp::WebPEncoder::new(&mut bytes).encode(&red.rgba, 3, 2, image_webp::ColorType::Rgba8).unwrap();
        assert_eq!(pixels(ImageFormat::Webp, &bytes).unwrap().0.rgba, red.rgba);
        // A frame smaller than its canvas.
        let mut bytes = Vec::new();
        let mut encoder = gif::Encoder::new(&mut bytes, 3, 2, &[255, 0, 0, 0, 0, 255]).unwrap();
        let frame =
            gif::Frame { left: 1, top: 1, width: 2, height: 1, buffer: vec![0, 1].into(), ..Default::default() };
        encoder.write_frame(&frame).unwrap();
        drop(encoder);
        let (gif, _) = pixels(ImageFormat::Gif, &bytes).unwrap();
        assert_eq!(gif.rgba, [[0; 4], [0; 4], [0; 4], [0; 4], [255, 0, 0, 255], [0, 0, 255, 255]].concat());
    }

    #[test]
    fn transparency_is_kept_or_stands_on_white() {
        let half = Pixels { width: 1, height: 1, rgba: vec![0, 0, 0, 128] };
        assert_eq!(pixels(ImageFormat::Png, &to_png(&half).unwrap()).unwrap().0.rgba, half.rgba);
        assert_eq!(on_white(&half), [127, 127, 127]);
    }
}
