//! Validates documents with a JSON Schema.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

/// The name of the schema inside the library, which does not fetch it.
const NAME: &str = "file:///schema.json";

pub(crate) struct Validator(Schemas, SchemaIndex);

impl Validator {
    /// Panics if the schema does not match the meta-schema that it names.
    pub(crate) fn new(schema: Value) -> Validator {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(NAME, schema).unwrap();
        let index = compiler.compile(NAME, &mut schemas).unwrap_or_else(|error| panic!("{error:#}"));
        Validator(schemas, index)
    }

    /// The error names every problem and its place.
    pub(crate) fn validate(&self, document: &Value) -> Result<(), String> {
        self.0.validate(document, self.1).map_err(|error| error.to_string())
    }
}
