package iceberglite.conformance

/** What the rules of the specification mean for what Spark shows and writes. */
object SparkRules extends RuleBook("spark", "Spark") {
  private val Types = "Schemas and Data Types"
  private val Defaults = "Default values"
  private val sparkTypes = "spark/convert/SparkTypes.scala"

  val everyTypeOpens: Rule = rule(
    "every-type-opens",
    Types,
    "A table with columns of any type opens, and what Spark has no type for keeps its value in another one."
  )(sparkTypes, "spark/read/parquet/PrimitiveReading.scala", "spark/read/parquet/ColumnMatch.scala")

  val variantsAsText: Rule = rule(
    "variants-as-text",
    "Semi-structured Types",
    "A variant is read as JSON text, also where the writer has shredded it."
  )("core/data/VariantJson.scala", "spark/read/parquet/VariantReading.scala", "spark/read/vector/VariantAsText.scala")

  val filtersOnEveryType: Rule = rule(
    "filters-on-every-type",
    Types,
    "A filter on a column that stands for another type in Spark skips nothing that its values do not say."
  )("spark/convert/SparkValues.scala", "spark/convert/SparkFilters.scala", "spark/read/parquet/FileTest.scala")

  val valuesChecked: Rule = rule(
    "values-checked",
    Types,
    "What is written to a uuid, fixed or time column must be a value of that type."
  )("spark/write/files/UuidText.scala", "spark/write/files/TimeOfDay.scala", "spark/write/parquet/LeafWriter.scala")

  val initialDefaultsRead: Rule = rule(
    "initial-defaults-read",
    Defaults,
    "Rows from before a column read as its initial default, at every level, and filters see it."
  )("spark/read/files/FileValues.scala", "spark/convert/SparkShape.scala")

  val writeDefaultsWritten: Rule = rule(
    "write-defaults-written",
    Defaults,
    "A write that does not supply a column writes its write default; without one a required column fails the write."
  )("spark/sql/FillColumns.scala", "spark/write/files/InputColumns.scala", "spark/convert/SparkDefaults.scala")

  val everyColumnWritten: Rule = rule(
    "every-column-written",
    Defaults,
    "Every column that the table has is in every file, so that no reader takes the initial default for its rows."
  )("spark/write/files/InputColumns.scala", "spark/write/parquet/AbsentWriters.scala")

  val defaultsDeclared: Rule = rule(
    "defaults-declared",
    Defaults,
    "A default in CREATE TABLE is for writes; one in ADD COLUMN is for the rows that are there too; SET DEFAULT and " +
      "DROP DEFAULT change that of writes alone."
  )("spark/convert/SparkDefaults.scala", "spark/catalog/TableChanges.scala", sparkTypes)

  val evolutionBySql: Rule = rule(
    "evolution-by-sql",
    "Schema Evolution",
    "ALTER TABLE changes columns at every level, and refuses with the column's path what would change old rows."
  )("spark/catalog/TableChanges.scala", "spec/update/SchemaUpdate.scala")

  val filesWithoutIds: Rule = rule(
    "files-without-ids",
    "Column Projection",
    "Files without field ids are read by the table's name mapping, at every level and by every alias; a partition value " +
      "stands only for a column that the file lacks."
  )("core/data/parquet/ParquetNameMapping.scala", "spark/read/parquet/FileProjections.scala")

  val damagedDataFiles: Rule = rule(
    "damaged-data-files",
    "Goals",
    "A data file that was damaged after it was written is an error that names it, not another row."
  )("spark/read/parquet/ParquetBatches.scala")
}
