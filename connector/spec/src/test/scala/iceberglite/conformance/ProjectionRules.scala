package iceberglite.conformance

/** Spec: "Column Projection". */
object ProjectionRules extends RuleBook("projection", "Column projection") {
  private val Projection = "Column Projection"
  private val Adopted = "Version 3 as adopted"

  val byId: Rule = rule(
    "by-id",
    Projection,
    "Columns of files are found by field id at every level, whatever their names and order."
  )("spark/read/parquet/ColumnMatch.scala")
  val missingOrder: Rule = rule(
    "missing-columns",
    Adopted,
    "A field that a file lacks has the value of an identity partition field, else its initial default, else null."
  )("spec/partition/ColumnSource.scala", "spark/read/files/FileValues.scala")
  val partitionValueOnlyMissing: Rule = rule(
    "partition-value-if-missing",
    Adopted,
    "The value of a partition stands only for a column that the file lacks."
  )("spec/partition/ColumnSource.scala")
  val requiredMissing: Rule = rule(
    "required-missing",
    Projection,
    "A required field without any of these is an error that names its path."
  )("spec/partition/ColumnSource.scala", "spark/read/parquet/FileProjections.scala")
  val structOfDefaults: Rule = rule(
    "struct-of-defaults",
    Adopted,
    "A struct with the default {} is there with the defaults of its fields; one that is absent without is null."
  )("spec/partition/ColumnSource.scala")

  val mappingWithoutIds: Rule = rule(
    "name-mapping",
    Projection,
    "A file without field ids gets them by the table's name mapping; one that has any is not asked about names."
  )("core/data/parquet/ParquetNameMapping.scala", "spec/schema/NameMapping.scala")
  val mappingNesting: Rule = rule(
    "name-mapping-nested",
    Projection,
    "What is in structs, lists (element) and maps (key, value) has a mapping of its own below its parent."
  )("spec/schema/NameMapping.scala", "spec/json/NameMappingJson.scala")
  val mappingLiteralNames: Rule = rule(
    "name-mapping-literal-names",
    Projection,
    "A name with a dot is one name, and no path."
  )("spec/schema/NameMapping.scala")
  val mappingAliases: Rule = rule(
    "name-mapping-aliases",
    Projection,
    "A field may have many names, or none."
  )("spec/schema/NameMapping.scala", "spec/json/NameMappingJson.scala")
  val mappingWithoutId: Rule = rule(
    "name-mapping-without-id",
    Projection,
    "A field that only files have may be mapped without an id."
  )("spec/schema/NameMapping.scala", "spec/json/NameMappingJson.scala")
}
