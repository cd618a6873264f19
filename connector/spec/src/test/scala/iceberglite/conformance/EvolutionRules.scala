package iceberglite.conformance

/** Spec: "Schema Evolution", "Identifier Field IDs", "Reserved Field IDs". */
object EvolutionRules extends RuleBook("evolution", "Schema evolution") {
  private val Evolution = "Schema Evolution"
  private val Adopted = "Version 3 as adopted"
  private val Identifiers = "Identifier Field IDs"
  private val Mapping = "Column Projection"
  private val Update = "spec/update/SchemaUpdate.scala"

  val newSchema: Rule = rule(
    "new-schema",
    Evolution,
    "A change of columns gives a schema with an id of its own, which becomes the current one; earlier ones stay."
  )(Update, "spec/update/Schemas.scala")
  val promotions: Rule = rule(
    "promotions",
    Evolution,
    "int becomes long, float double, and a decimal one of the same scale and greater precision; nothing else does."
  )("spec/types/Type.scala", Update)
  val promotionsOfV3: Rule = rule(
    "promotions-of-version-3",
    Adopted,
    "From version 3 on unknown becomes any type, and date timestamp or timestamp_ns, never one with zone."
  )("spec/types/Type.scala", Update)
  val outOfRange: Rule = rule(
    "promotion-out-of-range",
    Adopted,
    "A date that the wider type cannot hold is an error at run time, that names the column."
  )("spec/types/DefaultValue.scala", "core/avro/LiteralDecoder.scala")
  val promotionOfSource: Rule = rule(
    "promotion-of-partition-source",
    Adopted,
    "A column is not promoted where the result of a partition transform would change; the path is named."
  )("spec/update/ColumnUse.scala")
  val freshIds: Rule = rule(
    "fresh-ids",
    Evolution,
    "An added field and all that is in it get new ids; no id is ever used again, not that of a dropped field either."
  )(Update, "spec/update/FreshIds.scala")
  val renameKeepsId: Rule = rule("rename-keeps-id", Evolution, "A renamed field keeps its id.")(Update)
  val deletion: Rule = rule("deletion", Evolution, "A deleted field leaves the current schema, with all in it.")(Update)
  val reorder: Rule = rule("reorder", Evolution, "Fields move within their struct.")(Update)
  val noMoveBetweenStructs: Rule = rule(
    "no-move-between-structs",
    Evolution,
    "Fields do not move into another struct, nor out of theirs; the path is named."
  )(Update)
  val noRegrouping: Rule = rule(
    "primitive-stays-primitive",
    Evolution,
    "A primitive does not become a struct, a struct no primitive."
  )("spec/types/Type.scala")
  val nestedEvolution: Rule = rule(
    "nested",
    Evolution,
    "Structs evolve wherever they are: in structs, as elements of lists, as values of maps."
  )(Update, "spec/schema/FieldEdit.scala")
  val optionalNotRequired: Rule = rule(
    "optional-not-required",
    Evolution,
    "A required field may become optional; an optional one stays so, as the rows that are there may hold null."
  )(Update)
  val mapKeys: Rule = rule(
    "map-keys",
    Evolution,
    "The key of a map never changes, nor anything in it: equality of keys must stay."
  )(Update)
  val oldDataReadable: Rule = rule(
    "old-data-readable",
    Evolution,
    "After any changes a field of an id that a file has is of a type that the file's can be promoted to."
  )(Update)
  val errorsNamePaths: Rule = rule(
    "errors-name-paths",
    Evolution,
    "What a change must not do is refused with the full name of the field."
  )(Update, "spec/schema/SchemaCheck.scala")
  val asThePeer: Rule = rule(
    "as-the-java-library",
    Evolution,
    "Changes of columns end as with the Java library: the same columns, ids and name mapping, or both refuse."
  )(Update, "spec/schema/NameMapping.scala")
  val unionByName: Rule = rule(
    "union-by-name",
    Evolution,
    "Columns of rows to write are merged by name: added, widened, made optional, and nothing else."
  )("spec/update/SchemaUnion.scala")

  val requiredNeedsDefaults: Rule = rule(
    "required-needs-defaults",
    Evolution,
    "A required field is added only with both defaults."
  )(Update)
  val defaultsOfAdded: Rule = rule(
    "defaults-of-added",
    Evolution,
    "The default of an added field is its initial and its write default."
  )(Update)
  val initialDefaultStays: Rule = rule(
    "initial-default-stays",
    Evolution,
    "An initial default never changes, but for its type when the field is promoted; a write default may."
  )(Update, "spec/schema/FieldEdit.scala")

  val identifierTypes: Rule = rule(
    "identifier-types",
    Identifiers,
    "Identifier fields are primitive, required, and no float or double."
  )("spec/schema/SchemaCheck.scala")
  val identifierNesting: Rule = rule(
    "identifier-nesting",
    Identifiers,
    "Identifier fields may be in structs that are required, not in optional ones, lists or maps."
  )("spec/schema/SchemaCheck.scala")
  val identifierKept: Rule = rule(
    "identifier-kept",
    Identifiers,
    "An identifier field cannot be dropped, nor what it is in; it stays one under a new name."
  )(Update)

  val reservedIds: Rule = rule(
    "reserved-ids",
    "Reserved Field IDs",
    "Field ids above 2147483447 are refused in schemas."
  )("spec/schema/SchemaCheck.scala", "spec/json/SchemaJson.scala")
  val metadataColumns: Rule = rule(
    "metadata-columns",
    "Reserved Field IDs",
    "The metadata columns have the ids and types of the specification."
  )("spec/schema/Schema.scala")

  val mappingFollows: Rule = rule(
    "mapping-follows",
    Mapping,
    "The table's name mapping goes with its columns: a new name is added to the old, an added column to the mapping."
  )("spec/schema/NameMapping.scala", "core/table/action/UpdateSchema.scala")
  val propertiesFollow: Rule = rule(
    "column-properties-follow",
    "Schema Evolution",
    "Properties of one column get its new name, and go with it, as with the Java library."
  )("core/table/action/UpdateSchema.scala")
}
