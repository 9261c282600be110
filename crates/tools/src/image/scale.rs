//! Fewer pixels: each new one is the mean of the area it covers, weighted by how much of
//! each old pixel lies in it and by how opaque that is. Letters stay legible this way.

use super::decode::Pixels;

/// Returns the largest size of these proportions whose edges are at most `edge`.
pub(super) fn within(width: u32, height: u32, edge: u32) -> (u32, u32) {
    let longest = width.max(height);
    if longest <= edge {
        return (width, height);
    }
    let shrunk = |side: u32| {
        let side = (u64::from(side) * u64::from(edge) + u64::from(longest) / 2) / u64::from(longest);
        u32::try_from(side).unwrap_or(edge).max(1)
    };
    (shrunk(width), shrunk(height))
}

/// How much of which old pixels makes a new one.
struct Cover {
    first: usize,
    weights: Vec<f32>,
}

fn covers(from: u32, to: u32) -> Vec<Cover> {
    let step = f64::from(from) / f64::from(to);
    let cover = |index: u32| {
        let (start, end) = (f64::from(index) * step, (f64::from(index + 1) * step).min(f64::from(from)));
        let first = start.floor() as usize;
        let last = (end.ceil() as usize).clamp(first + 1, from as usize);
        let part = |pixel: usize| (end.min(pixel as f64 + 1.0) - start.max(pixel as f64)).max(0.0) as f32;
        Cover { first, weights: (first..last).map(part).collect() }
    };
    (0..to).map(cover).collect()
}

/// Not larger than the original in either direction.
pub(super) fn down(pixels: Pixels, width: u32, height: u32) -> Pixels {
    if (width, height) == (pixels.width, pixels.height) {
        return pixels;
    }
    let columns = covers(pixels.width, width);
    let line = pixels.width as usize * 4;
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    let mut sums = vec![[0f32; 5]; width as usize];
    for rows in covers(pixels.height, height) {
        sums.fill([0.0; 5]);
        for (offset, row_weight) in rows.weights.iter().enumerate() {
            let row = &pixels.rgba[(rows.first + offset) * line..][..line];
            for (sum, column) in sums.iter_mut().zip(&columns) {
                for (pixel, weight) in row[column.first * 4..].chunks_exact(4).zip(&column.weights) {
                    let weight = weight * row_weight;
                    let opaque = weight * f32::from(pixel[3]);
                    for (total, colour) in sum.iter_mut().zip(&pixel[..3]) {
                        *total += opaque * f32::from(*colour);
                    }
                    sum[3] += opaque;
                    sum[4] += weight;
                }
            }
        }
        for [red, green, blue, opaque, weight] in &sums {
            let colour = |sum: &f32| if *opaque > 0.0 { (sum / opaque).round() as u8 } else { 0 };
            rgba.extend([colour(red), colour(green), colour(blue), (opaque / weight).round() as u8]);
        }
    }
    Pixels { width, height, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_are_kept() {
        for (size, expected) in
            [((100, 50), (100, 50)), ((3_136, 1_568), (1_568, 784)), ((1, 8_000), (1, 1_568)), ((8_000, 3), (1_568, 1))]
        {
            assert_eq!(within(size.0, size.1, 1_568), expected, "{size:?}");
        }
    }

    #[test]
    fn a_new_pixel_is_the_mean_of_what_it_covers() {
        let grey = |value: u8| [value, value, value, 255];
        let four = Pixels { width: 2, height: 2, rgba: [grey(0), grey(100), grey(100), grey(200)].concat() };
        assert_eq!(down(four, 1, 1).rgba, grey(100));
        let three = Pixels { width: 3, height: 1, rgba: [grey(0), grey(90), grey(180)].concat() };
        assert_eq!(down(three, 2, 1).rgba, [grey(30), grey(150)].concat());
        // An invisible pixel has no colour.
        let hidden = Pixels { width: 2, height: 1, rgba: vec![255, 0, 0, 0, 0, 0, 255, 255] };
        assert_eq!(down(hidden, 1, 1).rgba, [0, 0, 255, 128]);
    }
}
