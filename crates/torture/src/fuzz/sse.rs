//! Replies of models on both wires, whole and broken. Law: however the bytes are cut, the reply or
//! the failure is the same.

use super::{mutate, same};
use crate::random::Random;
use ona_api::model::{Part, Reply};
use ona_providers::{BodyFormat, ImageSupport, ResponseDecoder, WireFormat};

const EXAMPLES: [&str; 5] = [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hé\\ud83d\\ude00\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    "data: {\"type\":\"message_start\",\"message\":{}}\r\n\r\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Bash\",\"input\":{}}}\r\n\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\":\"}}\r\n\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"ls\\\"}\"}}\r\n\r\ndata: {\"type\":\"content_block_stop\",\"index\":0}\r\n\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\r\n\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n: ping\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"Read\",\"arguments\":\"{}\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
    "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"B\",\"input\":{}}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}",
    "{\"choices\":[{\"message\":{\"content\":\"x\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"B\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}",
];
const WORDS: [&str; 30] = [
    "data: ",
    "data:",
    "event: error\n",
    "id: 1\n",
    "retry: 1\n",
    "\n\n",
    "\r\n\r\n",
    "\r",
    "\n",
    ":",
    "[DONE]",
    "{",
    "}",
    "null",
    "\"index\":1",
    "\"index\":-1",
    "\"index\":99999999999",
    "\"text\"",
    "\"type\":\"error\"",
    "\"error\":{\"type\":\"overloaded_error\"}",
    "\"tool_calls\"",
    "\"finish_reason\":\"length\"",
    "\"stop_reason\":\"refusal\"",
    "message_stop",
    "ping",
    "\\ud800",
    "\"thinking_delta\"",
    "content_block_start",
    "\u{feff}",
    "\"usage\":{\"input_tokens\":-1}",
];

/// The reply without ids that were made up; a failure by its words.
fn read<'a>(wire: WireFormat, format: BodyFormat, pieces: impl Iterator<Item = &'a [u8]>) -> Result<Reply, String> {
    let mut decoder = ResponseDecoder::new(wire, format);
    for piece in pieces {
        decoder.push(piece, &mut |_| {}).map_err(|failure| failure.message)?;
        // What comes after the end of the reply is not read.
        if decoder.is_over() {
            break;
        }
    }
    let mut reply = decoder.finish(&mut |_| {}).map_err(|failure| failure.message)?;
    for part in &mut reply.parts {
        if let Part::ToolUse { id, .. } = part {
            id.0.clear();
        }
    }
    Ok(reply)
}

pub(super) fn decode(random: &mut Random, input: &mut String) -> Result<(), String> {
    let bytes = mutate::bytes(random, &EXAMPLES, &WORDS);
    let wire = *random.pick(&[WireFormat::Messages(ImageSupport::Images), WireFormat::Chat(ImageSupport::Images)]);
    let format = *random.pick(&[BodyFormat::Events, BodyFormat::Json, BodyFormat::Unknown]);
    *input = format!("{wire:?} {format:?} {:?}", String::from_utf8_lossy(&bytes));
    let whole = read(wire, format, [bytes.as_slice()].into_iter());
    let size = 1 + random.below(40);
    let cut = read(wire, format, bytes.chunks(size));
    same(&format!("cut into pieces of {size}"), &whole, &cut)
}
