package iceberglite.conformance

/** Consequences of the specification's rules for reads and writes in Spark. */
object SparkRules extends RuleBook("spark", "Spark") {
  private val Types = "Schemas and Data Types"
  private val Defaults = "Default values"
  private val sparkTypes = "spark/convert/SparkTypes.scala"

  val everyTypeOpens: Rule = rule(
    "every-type-opens",
    Types,
    "A table with columns of any type can be opened; types that Spark lacks are mapped to other types without loss."
  )(sparkTypes, "spark/read/parquet/PrimitiveConversion.scala", "spark/read/parquet/ColumnMatch.scala")

  val variantsAsText: Rule = rule(
    "variants-as-text",
    "Semi-structured Types",
    "A variant is read as JSON text, even if the writer shredded it."
  )(
    "core/data/VariantJson.scala",
    "spark/read/parquet/VariantConversion.scala",
    "spark/read/vector/VariantStrings.scala"
  )

  val variantsWritten: Rule = rule(
    "variants-written",
    "Semi-structured Types",
    "JSON text that is written to a variant column is stored in the variant encoding; other text is rejected."
  )(
    "core/data/VariantParser.scala",
    "core/data/VariantEncoding.scala",
    "spark/write/files/VariantParts.scala"
  )

  val spatialColumns: Rule = rule(
    "spatial-columns",
    "Types, defaults, transforms (version 3)",
    "Columns are declared as GEOMETRY or GEOGRAPHY with a CRS and an edge algorithm. Their values are WKB; other " +
      "bytes are rejected when they are written."
  )("spark/convert/SpatialUdt.scala", "spark/sql/NewTypeColumns.scala", "core/metrics/SpatialCollector.scala")

  val spatialFunctions: Rule = rule(
    "spatial-functions",
    "Types, defaults, transforms (version 3)",
    "Functions convert geometries from and to WKT, and a filter on st_intersects with a constant geometry skips files."
  )("spark/function/SpatialFunctions.scala", "spark/function/Geometries.scala", "spark/rules/SpatialCondition.scala")

  val variantsKept: Rule = rule(
    "variants-kept",
    "Semi-structured Types",
    "A variant in a rewritten row keeps its value and its types, including types that JSON lacks."
  )("spark/convert/VariantText.scala", "spark/rules/ExactVariants.scala")

  val variantsOfValues: Rule = rule(
    "variants-of-values",
    "Semi-structured Types",
    "A variant that a function creates from a value is written with the types of all parts of the value."
  )("spark/function/ToVariant.scala", "spark/rules/ResolveToVariant.scala", "spark/rules/WriteExactVariants.scala")

  val variantsShredded: Rule = rule(
    "variants-shredded",
    "Semi-structured Types",
    "Variants are written shredded if the table requests it: a value that its typed column cannot contain remains " +
      "encoded, so that all readers see the same variants."
  )(
    "core/data/VariantShape.scala",
    "core/data/parquet/shred/VariantShredder.scala",
    "spark/write/parquet/SampledParquetFile.scala"
  )

  val variantPartsRead: Rule = rule(
    "variant-parts-read",
    "Semi-structured Types",
    "A query that uses only parts of shredded variants reads only the columns of these parts."
  )("spark/rules/PruneVariants.scala", "spark/rules/VariantUses.scala", "spark/read/parquet/VariantProjection.scala")

  val filtersOnEveryType: Rule = rule(
    "filters-on-every-type",
    Types,
    "A filter on a column whose type Spark lacks skips only files without matching values."
  )("spark/convert/SparkValues.scala", "spark/convert/SparkFilters.scala", "spark/read/parquet/ColumnPredicates.scala")

  val valuesChecked: Rule = rule(
    "values-checked",
    Types,
    "Values written to a uuid, fixed or time column must be valid for that type."
  )("spark/write/files/UuidText.scala", "spark/write/files/TimeOfDay.scala", "spark/write/parquet/LeafWriter.scala")

  val initialDefaultsRead: Rule = rule(
    "initial-defaults-read",
    Defaults,
    "Rows older than a column are read with its initial default, at every level; filters on the column also match " +
      "the default."
  )("spark/read/files/FileValues.scala", "spark/convert/SparkValueFactory.scala")

  val writeDefaultsWritten: Rule = rule(
    "write-defaults-written",
    Defaults,
    "A write that omits a column writes its write default; omitting a required column without a default fails."
  )("spark/sql/FillMissingColumns.scala", "spark/write/files/InputColumns.scala", "spark/convert/SparkDefaults.scala")

  val everyColumnWritten: Rule = rule(
    "every-column-written",
    Defaults,
    "Every table column is written to every file, so that readers do not use the initial default for its rows."
  )("spark/write/files/InputColumns.scala", "spark/write/parquet/ConstantWriter.scala")

  val defaultsDeclared: Rule = rule(
    "defaults-declared",
    Defaults,
    "A default in CREATE TABLE is a write default; a default in ADD COLUMN also applies to existing rows; SET " +
      "DEFAULT and DROP DEFAULT change only the write default."
  )("spark/convert/SparkDefaults.scala", "spark/catalog/AlterTableChanges.scala", sparkTypes)

  val evolutionBySql: Rule = rule(
    "evolution-by-sql",
    "Schema Evolution",
    "ALTER TABLE changes columns at every level, and rejects changes that would alter old rows, with the column path."
  )("spark/catalog/AlterTableChanges.scala", "spec/update/SchemaChanges.scala")

  val filesWithoutIds: Rule = rule(
    "files-without-ids",
    "Column Projection",
    "Files without field ids are read by the table's name mapping, at every level and by every alias; a partition " +
      "value is used only for a column that the file lacks."
  )("core/data/parquet/ParquetNameMapping.scala", "spark/read/parquet/FileProjections.scala")

  val damagedDataFiles: Rule = rule(
    "damaged-data-files",
    "Goals",
    "Reading a data file that was damaged after it was written fails with an error that names the file, and never " +
      "returns different rows."
  )("spark/read/parquet/ParquetBatches.scala")
}
