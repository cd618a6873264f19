package iceberglite.conformance

/** Rules of the specification section "Appendix A: Parquet", and rules about columns that apply to Parquet files. */
object ParquetRules extends RuleBook("parquet", "Parquet files") {
  val typesWritten: Rule = rule(
    "types-written",
    "Appendix A: Parquet",
    "Each type has its physical and logical type in the table of Appendix A; a decimal is an int32, an int64 or the " +
      "shortest fixed."
  )("core/parquet/ParquetSchemas.scala")

  val typesRead: Rule = rule(
    "types-read",
    "Appendix A: Parquet",
    "A file's schema is converted to Iceberg types by the table of Appendix A."
  )("core/parquet/SchemaOfParquet.scala")

  val idsOnNodes: Rule = rule(
    "ids-on-nodes",
    "Appendix A: Parquet",
    "Every column, field, element, key and value has its field id in the file's schema."
  )("core/parquet/ParquetSchemas.scala")

  val threeLevelLists: Rule = rule(
    "three-level-lists",
    "Appendix A: Parquet",
    "Lists and maps are written with three levels; two-level lists of older writers are also read."
  )("core/parquet/ParquetSchemas.scala", "core/parquet/ParquetShapes.scala")

  val unknownNotStored: Rule = rule(
    "unknown-not-stored",
    "Types, defaults, transforms (version 3)",
    "Columns of type unknown are not stored in the file, and are read as null."
  )("core/parquet/ParquetSchemas.scala", "core/data/parquet/FileReadPlan.scala")

  val variantParts: Rule = rule(
    "variant-parts",
    "Types, defaults, transforms (version 3)",
    "A variant is a group of metadata and value, both without field ids; geometry and geography are WKB in binary."
  )("core/parquet/ParquetSchemas.scala", "core/data/parquet/RecordConverters.scala")

  val newerTypes: Rule = rule(
    "newer-types",
    "Types, defaults, transforms (version 3)",
    "An unknown logical type of one column does not prevent reading the other columns."
  )("core/parquet/ParquetInput.scala")

  val valuesKept: Rule = rule(
    "values-kept",
    "Appendix A: Parquet",
    "Rows of any schema round-trip; this library and Apache Iceberg read the same rows from each other's files."
  )(
    "core/data/parquet/ParquetData.scala",
    "core/data/parquet/RecordShredder.scala",
    "core/data/parquet/FileReadPlan.scala"
  )

  val columnsById: Rule = rule(
    "columns-by-id",
    "Column Projection",
    "Columns of a file are found by field id at every level, independent of names and order."
  )("core/data/parquet/FileReadPlan.scala")

  val promoted: Rule = rule(
    "promoted",
    "Schema Evolution",
    "A file with the narrower type is read as the promoted type."
  )("core/data/parquet/ColumnReader.scala")

  val mappedNames: Rule = rule(
    "mapped-names",
    "Column Projection",
    "A file without field ids gets the ids of the table's name mapping at every level; a file with any field id " +
      "keeps its own ids."
  )("core/data/parquet/ParquetNameMapping.scala")

  val positionIds: Rule = rule(
    "position-ids",
    "Column Projection",
    "Without field ids and without a name mapping, ids are assigned by position from 1, as in Apache Iceberg."
  )("core/data/parquet/ParquetNameMapping.scala")

  val missingColumns: Rule = rule(
    "missing-columns",
    "Column Projection",
    "A field that the file lacks gets the partition value, otherwise its initial default, otherwise null; if the " +
      "field is required, reading fails instead of returning null."
  )("core/data/parquet/FileReadPlan.scala")

  val structsKept: Rule = rule(
    "structs-kept",
    "Column Projection",
    "A struct without any projected field in the file is null exactly where the file has a null struct."
  )("core/data/parquet/FileReadPlan.scala")

  val positions: Rule = rule(
    "positions",
    "Reserved Field IDs",
    "`_pos` is the position of a row in the whole file, counted from 0 across all row groups."
  )("core/data/parquet/ParquetRecords.scala")

  val requiredValues: Rule = rule(
    "required-values",
    "Nested Types",
    "Writing a null to a required field fails with the path of the field."
  )("core/data/parquet/RecordShredder.scala")

  val damagedFiles: Rule = rule(
    "damaged-files",
    "Appendix A: Parquet",
    "Reading a damaged or malicious file returns rows or fails with an error that names the file, with memory " +
      "bounded by the size of the file."
  )("core/parquet/ParquetFooterCheck.scala", "core/data/parquet/GuardedPages.scala")
}
