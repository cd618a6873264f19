package iceberglite.conformance

/** Rules of the specification sections "Schema Evolution", "Identifier Field IDs" and "Reserved Field IDs". */
object EvolutionRules extends RuleBook("evolution", "Schema evolution") {
  private val Evolution = "Schema Evolution"
  private val Version3 = "Table specification (adopted version 3)"
  private val Identifiers = "Identifier Field IDs"
  private val Mapping = "Column Projection"
  private val Update = "spec/update/SchemaChanges.scala"

  val newSchema: Rule = rule(
    "new-schema",
    Evolution,
    "A change to columns creates a schema with a new id, which becomes current; earlier schemas are kept."
  )(Update, "spec/update/Schemas.scala")
  val promotions: Rule = rule(
    "promotions",
    Evolution,
    "int is promoted to long, float to double, and decimal to a higher precision; in versions 1 and 2, no others."
  )("spec/types/Type.scala", Update)
  val promotionsOfV3: Rule = rule(
    "promotions-of-version-3",
    Version3,
    "In version 3 and later, unknown is promoted to any type, and date to timestamp or timestamp_ns without time zone."
  )("spec/types/Type.scala", Update)
  val outOfRange: Rule = rule(
    "promotion-out-of-range",
    Version3,
    "A date outside the range of the type to which its column is promoted is a run-time error that names the column."
  )("spec/types/DefaultValue.scala", "core/avro/LiteralDecoder.scala")
  val promotionOfSource: Rule = rule(
    "promotion-of-partition-source",
    Version3,
    "A column is not promoted if the result of a partition transform would change; the error names the column path."
  )("spec/update/ColumnReferences.scala")
  val freshIds: Rule = rule(
    "fresh-ids",
    Evolution,
    "An added field and its nested fields get new ids; an id is never reused, not even that of a dropped field."
  )(Update, "spec/update/FreshIds.scala")
  val renameKeepsId: Rule = rule("rename-keeps-id", Evolution, "A renamed field keeps its id.")(Update)
  val deletion: Rule = rule(
    "deletion",
    Evolution,
    "Dropping a field removes it and its nested fields from the current schema."
  )(Update)
  val reorder: Rule = rule("reorder", Evolution, "Fields can be moved within their struct.")(Update)
  val noMoveBetweenStructs: Rule = rule(
    "no-move-between-structs",
    Evolution,
    "Fields cannot be moved into or out of a struct; the error names the path."
  )(Update)
  val primitiveStaysPrimitive: Rule = rule(
    "primitive-stays-primitive",
    Evolution,
    "A primitive cannot become a struct, nor a struct a primitive."
  )("spec/types/Type.scala")
  val nestedEvolution: Rule = rule(
    "nested",
    Evolution,
    "Structs evolve at every level: nested in structs, as list elements and as map values."
  )(Update, "spec/schema/FieldEdit.scala")
  val optionalNotRequired: Rule = rule(
    "optional-not-required",
    Evolution,
    "A required field can become optional; an optional field cannot become required, because old rows may contain null."
  )(Update)
  val mapKeys: Rule = rule(
    "map-keys",
    Evolution,
    "Map keys and their nested fields cannot be changed, because key equality must not change."
  )(Update)
  val oldDataReadable: Rule = rule(
    "old-data-readable",
    Evolution,
    "After any schema changes, the type of a field in each existing file can be promoted to the current type of the " +
      "field."
  )(Update)
  val errorsNamePaths: Rule = rule(
    "errors-name-paths",
    Evolution,
    "An error for an invalid change names the full path of the field."
  )(Update, "spec/schema/SchemaCheck.scala")
  val sameAsApacheIceberg: Rule = rule(
    "same-as-apache-iceberg",
    Evolution,
    "Column changes give the same columns, ids and name mapping as in Apache Iceberg, or both libraries reject them."
  )(Update, "spec/schema/NameMapping.scala")
  val unionByName: Rule = rule(
    "union-by-name",
    Evolution,
    "Columns of incoming rows are merged by name: columns are only added, widened or made optional."
  )("spec/update/SchemaUnion.scala")

  val requiredNeedsDefaults: Rule = rule(
    "required-needs-defaults",
    Evolution,
    "A required field can be added only with an initial default and a write default."
  )(Update)
  val defaultsOfAdded: Rule = rule(
    "defaults-of-added",
    Evolution,
    "The default of an added field becomes its initial default and its write default."
  )(Update)
  val initialDefaultStays: Rule = rule(
    "initial-default-stays",
    Evolution,
    "The initial default never changes, except for its type on promotion; the write default can change."
  )(Update, "spec/schema/FieldEdit.scala")

  val identifierTypes: Rule = rule(
    "identifier-types",
    Identifiers,
    "Identifier fields are primitive and required, and not float or double."
  )("spec/schema/SchemaCheck.scala")
  val identifierNesting: Rule = rule(
    "identifier-nesting",
    Identifiers,
    "Identifier fields may be nested in required structs, but not in optional structs, lists or maps."
  )("spec/schema/SchemaCheck.scala")
  val identifierKept: Rule = rule(
    "identifier-kept",
    Identifiers,
    "An identifier field and its enclosing fields cannot be dropped; a renamed identifier field remains an " +
      "identifier field."
  )(Update)

  val reservedIds: Rule = rule(
    "reserved-ids",
    "Reserved Field IDs",
    "Field ids above 2147483447 are rejected in schemas."
  )("spec/schema/SchemaCheck.scala", "spec/json/SchemaJson.scala")
  val metadataColumns: Rule = rule(
    "metadata-columns",
    "Reserved Field IDs",
    "The metadata columns have the ids and types of the specification."
  )("spec/schema/Schema.scala")

  val mappingFollows: Rule = rule(
    "mapping-follows",
    Mapping,
    "The table's name mapping follows its columns: a new name is added as an alias, and an added column gets an entry."
  )("spec/schema/NameMapping.scala", "core/table/action/UpdateSchema.scala")
  val propertiesFollow: Rule = rule(
    "column-properties-follow",
    "Schema Evolution",
    "Per-column table properties are renamed and removed together with their column, as in Apache Iceberg."
  )("core/table/action/UpdateSchema.scala")
}
