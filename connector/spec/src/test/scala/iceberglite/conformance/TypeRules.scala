package iceberglite.conformance

/** Rules of the specification sections "Schemas and Data Types" and "Default values". */
object TypeRules extends RuleBook("types", "Types and default values") {
  private val Types = "Schemas and Data Types"
  private val Nested = "Nested Types"
  private val Primitive = "Primitive Types"
  private val Defaults = "Default values"
  private val Version3 = "Table specification (adopted version 3)"

  val uniqueIds: Rule = rule(
    "unique-ids",
    Nested,
    "Fields, elements, keys and values have unique ids in the schema."
  )("spec/schema/SchemaCheck.scala", "spec/json/SchemaJson.scala")
  val uniqueNames: Rule = rule("unique-names", Nested, "The fields of a struct have unique names.")(
    "spec/schema/SchemaCheck.scala"
  )
  val optionalOrRequired: Rule = rule(
    "optional-or-required",
    Nested,
    "Fields, elements and values are optional or required; keys are required."
  )("spec/types/Type.scala")
  val anyNesting: Rule = rule(
    "any-nesting",
    Nested,
    "Fields, elements, keys and values can have any type, including nested types."
  )("spec/types/Type.scala", "spec/json/TypeJson.scala")
  val primitiveNames: Rule = rule(
    "primitives",
    Primitive,
    "All primitive types of the specification exist under its names."
  )("spec/types/Type.scala", "spec/json/TypeJson.scala")
  val decimalPrecision: Rule = rule(
    "decimal-precision",
    Primitive,
    "The precision of a decimal is at most 38; the scale never changes."
  )("spec/schema/SchemaCheck.scala", "spec/json/TypeJson.scala")
  val versionOfTypes: Rule = rule(
    "version-of-types",
    Primitive,
    "Types added in version 3 are rejected in tables of earlier versions."
  )("spec/types/Type.scala", "spec/schema/SchemaCheck.scala")
  val spatialDefaults: Rule = rule(
    "spatial-parameters",
    Version3,
    "The default CRS of geometry and geography is OGC:CRS84, and the default edge algorithm is spherical."
  )("spec/types/Type.scala", "spec/json/TypeJson.scala")
  val unknownOptional: Rule = rule(
    "unknown-optional",
    Version3,
    "A field of type unknown is optional and always null."
  )("spec/schema/SchemaCheck.scala")

  val initialAndWrite: Rule = rule(
    "initial-and-write-default",
    Defaults,
    "A struct field may have an initial default for earlier rows and a write default for later rows."
  )("spec/types/Type.scala", "spec/json/SchemaJson.scala")
  val createSetsWriteDefault: Rule = rule(
    "create-sets-write-default",
    Defaults,
    "A default at table creation is only a write default, because no row is older than the column."
  )("spec/table/NewTable.scala", "spec/update/FreshIds.scala")
  val defaultsFit: Rule = rule(
    "defaults-fit",
    Defaults,
    "A default is a value of its field's type, with the scale and precision of a decimal and the length of a fixed."
  )("spec/types/DefaultValue.scala", "spec/schema/SchemaCheck.scala")
  val defaultsOfV3: Rule = rule(
    "defaults-of-version-3",
    "Appendix E: Version 3",
    "In version 3 and later, columns can have defaults."
  )("spec/schema/SchemaCheck.scala")
  val nullDefaultOnly: Rule = rule(
    "null-default-only",
    Version3,
    "unknown, variant, geometry and geography can only have the default null."
  )("spec/types/DefaultValue.scala")
  val structDefault: Rule = rule(
    "struct-default",
    Version3,
    "The default of a struct is {} or null; its values come from the defaults of its fields."
  )("spec/types/DefaultValue.scala", "spec/partition/ColumnSource.scala", "spec/json/SingleValueJson.scala")
  val nestedDefaults: Rule = rule(
    "nested-defaults",
    "Appendix D: JSON single-value serialization",
    "Defaults of lists are arrays of values; defaults of maps are arrays of keys and of values."
  )("spec/types/DefaultValue.scala", "spec/json/SingleValueJson.scala")
  val schemaIds: Rule = rule("schema-ids", Types, "Schemas have ids; schemas with equal columns share one id.")(
    "spec/update/Schemas.scala"
  )
}
