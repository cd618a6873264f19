package iceberglite.conformance

/** Spec: "Schemas and Data Types", "Default values". */
object TypeRules extends RuleBook("types", "Types and default values") {
  private val Types = "Schemas and Data Types"
  private val Nested = "Nested Types"
  private val Primitive = "Primitive Types"
  private val Defaults = "Default values"
  private val Adopted = "Version 3 as adopted"

  val uniqueIds: Rule = rule(
    "unique-ids",
    Nested,
    "Fields, elements, keys and values have ids that are unique in the schema."
  )("spec/schema/SchemaCheck.scala", "spec/json/SchemaJson.scala")
  val uniqueNames: Rule = rule("unique-names", Nested, "The fields of a struct have names, each another.")(
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
    "Fields, elements, keys and values may be of any type, nested ones too."
  )("spec/types/Type.scala", "spec/json/TypeJson.scala")
  val primitiveNames: Rule = rule(
    "primitives",
    Primitive,
    "All primitive types of the specification are there, under its names."
  )("spec/types/Type.scala", "spec/json/TypeJson.scala")
  val decimalPrecision: Rule = rule(
    "decimal-precision",
    Primitive,
    "The precision of a decimal is 38 or less; the scale never changes."
  )("spec/schema/SchemaCheck.scala", "spec/json/TypeJson.scala")
  val versionOfTypes: Rule = rule(
    "version-of-types",
    Primitive,
    "Types that version 3 added are refused in tables of earlier versions."
  )("spec/types/Type.scala", "spec/schema/SchemaCheck.scala")
  val spatialDefaults: Rule = rule(
    "spatial-parameters",
    Adopted,
    "The reference system of geometry and geography is OGC:CRS84 where none is given, the edge algorithm spherical."
  )("spec/types/Type.scala", "spec/json/TypeJson.scala")
  val unknownOptional: Rule = rule(
    "unknown-optional",
    Adopted,
    "A field of type unknown is optional and always null."
  )("spec/schema/SchemaCheck.scala")

  val initialAndWrite: Rule = rule(
    "initial-and-write-default",
    Defaults,
    "A field of a struct may have an initial default, for rows from before it, and a write default, for later ones."
  )("spec/types/Type.scala", "spec/json/SchemaJson.scala")
  val createSetsWriteDefault: Rule = rule(
    "create-sets-write-default",
    Defaults,
    "A default given when a table is made is a write default only: no row is older than the column."
  )("spec/table/NewTable.scala", "spec/update/FreshIds.scala")
  val defaultsFit: Rule = rule(
    "defaults-fit",
    Defaults,
    "A default is a value of its field's type: of a decimal's scale and precision, of a fixed's length."
  )("spec/types/DefaultValue.scala", "spec/schema/SchemaCheck.scala")
  val defaultsOfV3: Rule = rule(
    "defaults-of-version-3",
    "Appendix E: Version 3",
    "Columns have defaults from version 3 on."
  )("spec/schema/SchemaCheck.scala")
  val nullDefaultOnly: Rule = rule(
    "null-default-only",
    Adopted,
    "unknown, variant, geometry and geography have no default but null."
  )("spec/types/DefaultValue.scala")
  val structDefault: Rule = rule(
    "struct-default",
    Adopted,
    "The default of a struct is {} or null; its values come from the defaults of its fields."
  )("spec/types/DefaultValue.scala", "spec/partition/ColumnSource.scala", "spec/json/SingleValueJson.scala")
  val nestedDefaults: Rule = rule(
    "nested-defaults",
    "Appendix D: JSON single-value serialization",
    "Defaults of lists and maps are arrays of values, and of keys beside values."
  )("spec/types/DefaultValue.scala", "spec/json/SingleValueJson.scala")
  val schemaIds: Rule = rule("schema-ids", Types, "Schemas have ids; equal columns are one schema.")(
    "spec/update/Schemas.scala"
  )
}
