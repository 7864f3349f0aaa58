//! YAML test data as JSON values.
//!
//! The cases of the corpora are protobuf JSON written as YAML, so a JSON value holds all of them.

use serde_json::Value;

/// Reads the only document of `text`.
///
/// # Errors
/// If `text` is not YAML, or holds a value that JSON lacks.
pub fn parse(text: &str) -> Result<Value, String> {
    serde_yaml_ng::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn flow_and_block_styles_become_the_same_json() {
        let expected = json!({"a": [1, 2.5, "x", null, true], "b": {"c": "y: z"}});
        let flow = "{a: [1, 2.5, x, null, true], b: {c: 'y: z'}}";
        let block = "a:\n  - 1\n  - 2.5\n  - x\n  -\n  - true\nb: {\n  c: 'y: z'\n}\n";
        assert_eq!(super::parse(flow).unwrap(), expected);
        assert_eq!(super::parse(block).unwrap(), expected);
    }

    #[test]
    fn broken_yaml_is_an_error() {
        assert!(super::parse("a: [1").is_err());
    }
}
