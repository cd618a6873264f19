package iceberglite.conformance

/** Rules of the specification section "Column Projection". */
object ProjectionRules extends RuleBook("projection", "Column projection") {
  private val Projection = "Column Projection"
  private val Version3 = "Table specification (adopted version 3)"

  val byId: Rule = rule(
    "by-id",
    Projection,
    "Columns of files are found by field id at every level, independent of names and order."
  )("spark/read/parquet/ColumnMatch.scala")
  val missingOrder: Rule = rule(
    "missing-columns",
    Version3,
    "A field that the file lacks gets the identity partition value, otherwise its initial default, otherwise null."
  )("spec/partition/ColumnSource.scala", "spark/read/files/FileValues.scala")
  val partitionValueOnlyMissing: Rule = rule(
    "partition-value-if-missing",
    Version3,
    "The partition value is used only for a column that the file lacks."
  )("spec/partition/ColumnSource.scala")
  val requiredMissing: Rule = rule(
    "required-missing",
    Projection,
    "A required field that the file lacks, and that has neither a partition value nor an initial default, is an " +
      "error that names its path."
  )("spec/partition/ColumnSource.scala", "spark/read/parquet/FileProjections.scala")
  val structOfDefaults: Rule = rule(
    "struct-of-defaults",
    Version3,
    "A struct with the default {} has the defaults of its fields; without a default an absent struct is null."
  )("spec/partition/ColumnSource.scala")

  val mappingWithoutIds: Rule = rule(
    "name-mapping",
    Projection,
    "A file without field ids gets them by the table's name mapping; a file with any id does not use names."
  )("core/data/parquet/ParquetNameMapping.scala", "spec/schema/NameMapping.scala")
  val mappingNesting: Rule = rule(
    "name-mapping-nested",
    Projection,
    "Fields of structs, list elements (element) and map entries (key, value) are mapped within their parent's mapping."
  )("spec/schema/NameMapping.scala", "spec/json/NameMappingJson.scala")
  val mappingLiteralNames: Rule = rule(
    "name-mapping-literal-names",
    Projection,
    "A name with a dot is a single name, not a path."
  )("spec/schema/NameMapping.scala")
  val mappingAliases: Rule = rule(
    "name-mapping-aliases",
    Projection,
    "A mapped field may have several names, or no name."
  )("spec/schema/NameMapping.scala", "spec/json/NameMappingJson.scala")
  val mappingWithoutId: Rule = rule(
    "name-mapping-without-id",
    Projection,
    "A mapped field that exists only in files may have no id."
  )("spec/schema/NameMapping.scala", "spec/json/NameMappingJson.scala")
}
