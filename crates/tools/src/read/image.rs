//! Pictures: described in words and attached, scaled down if providers would refuse them.

use super::binary::{bytes, hex};
use super::{Loaded, load};
use crate::ToolContext;
use crate::files::FileResult;
use crate::image::{self, ImageHeader};
use ona_api::{Attachment, ToolResult};
use serde_json::json;
use std::fs::File;
use std::path::Path;

pub(super) fn read(path: &Path, file: File, head: &[u8], image: ImageHeader, cx: &ToolContext) -> FileResult {
    let loaded = load(path, file, image::MAX_BYTES as u64, cx)?;
    let name = image.format.name();
    let dimensions = image.size.map_or(String::new(), |(width, height)| format!(", {width}x{height} pixels"));
    let mut content = format!("{} ({name}, {}{dimensions})", path.display(), bytes(loaded.size()));
    let media_type = image.format.attached_as();
    let mut dimensions = image.size.map(|(width, height)| json!({"originalWidth": width, "originalHeight": height}));
    let (size, seen) = (loaded.size(), loaded.seen(path));
    let mut attachments = Vec::new();
    if media_type.is_some() {
        let fitted = match loaded {
            Loaded::Whole(bytes) => image::fit(bytes),
            Loaded::TooLarge { .. } => Err(image::ImageError::TooManyBytes),
        };
        match fitted {
            Ok(fitted) => {
                if let (Some((width, height)), Some(dimensions)) = (fitted.scaled_to, &mut dimensions) {
                    content.push_str(&format!("\n[Scaled down to {width}x{height} pixels for viewing.]"));
                    dimensions["displayWidth"] = width.into();
                    dimensions["displayHeight"] = height.into();
                }
                attachments.push(Attachment::from(fitted));
            }
            Err(unfit) => content.push_str(&format!("\n[Not attached: {unfit}.]")),
        }
    }
    content.push_str(&format!("\n{}", hex(head)));
    let mut result = ToolResult::success(content).data(json!({
        "type": "image",
        "file": {"filePath": path, "type": media_type, "originalSize": size, "dimensions": dimensions},
    }));
    result.seen = seen;
    result.attachments = attachments;
    Ok(result)
}
