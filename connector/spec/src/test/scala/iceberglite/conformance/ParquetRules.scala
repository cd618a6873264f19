package iceberglite.conformance

/** Spec: "Appendix A: Parquet", and what its sections on columns say of data files. */
object ParquetRules extends RuleBook("parquet", "Parquet files") {
  val typesWritten: Rule = rule(
    "types-written",
    "Appendix A: Parquet",
    "Each type has the physical and the logical type of the table, decimals in an int32, an int64 or the fewest bytes."
  )("core/parquet/ParquetSchemas.scala")

  val typesRead: Rule = rule(
    "types-read",
    "Appendix A: Parquet",
    "The schema of a file is that of the same table, read from right to left."
  )("core/parquet/SchemaOfParquet.scala")

  val idsOnNodes: Rule = rule(
    "ids-on-nodes",
    "Appendix A: Parquet",
    "Every column, field, element, key and value has its field id in the file's schema."
  )("core/parquet/ParquetSchemas.scala")

  val threeLevelLists: Rule = rule(
    "three-level-lists",
    "Appendix A: Parquet",
    "Lists and maps are written in three levels; lists of two levels, which old writers made, are read."
  )("core/parquet/ParquetSchemas.scala", "core/parquet/ParquetShapes.scala")

  val unknownNotStored: Rule = rule(
    "unknown-not-stored",
    "Types, defaults, transforms (version 3)",
    "Columns of type unknown are not in the file, and null when it is read."
  )("core/parquet/ParquetSchemas.scala", "core/data/parquet/FileReading.scala")

  val variantParts: Rule = rule(
    "variant-parts",
    "Types, defaults, transforms (version 3)",
    "A variant is a group of metadata and value, which have no field ids; geometry and geography are WKB in a binary."
  )("core/parquet/ParquetSchemas.scala", "core/data/parquet/RecordConverters.scala")

  val newerTypes: Rule = rule(
    "newer-types",
    "Types, defaults, transforms (version 3)",
    "A column whose logical type this Parquet does not know leaves the rest of the file readable."
  )("core/parquet/ParquetInput.scala")

  val valuesKept: Rule = rule(
    "values-kept",
    "Appendix A: Parquet",
    "Rows of any schema come back as they were written, and are the same to Apache Iceberg, both ways."
  )(
    "core/data/parquet/ParquetData.scala",
    "core/data/parquet/RecordShredder.scala",
    "core/data/parquet/FileReading.scala"
  )

  val columnsById: Rule = rule(
    "columns-by-id",
    "Column Projection",
    "Columns of a file are found by field id at every level, whatever they are called and in whatever order they stand."
  )("core/data/parquet/FileReading.scala")

  val promoted: Rule = rule(
    "promoted",
    "Schema Evolution",
    "A file with the narrower type is read in the type that the column was promoted to."
  )("core/data/parquet/ColumnReading.scala")

  val mappedNames: Rule = rule(
    "mapped-names",
    "Column Projection",
    "A file without any field id gets those of the table's name mapping, at every level; one with any id keeps to its own."
  )("core/data/parquet/ParquetNameMapping.scala")

  val positionIds: Rule = rule(
    "position-ids",
    "Column Projection",
    "Without field ids and without a mapping, the first column is field 1 and so on, as Apache Iceberg takes it."
  )("core/data/parquet/ParquetNameMapping.scala")

  val missingColumns: Rule = rule(
    "missing-columns",
    "Column Projection",
    "A field that the file lacks is the partition's value, else the initial default, else null; else the file is refused."
  )("core/data/parquet/FileReading.scala")

  val structsKept: Rule = rule(
    "structs-kept",
    "Column Projection",
    "A struct of which the file has none of the wanted fields is null where it is null in the file, and nowhere else."
  )("core/data/parquet/FileReading.scala")

  val positions: Rule = rule(
    "positions",
    "Reserved Field IDs",
    "`_pos` is the ordinal of a row in the whole file, over all its row groups."
  )("core/data/parquet/ParquetRecords.scala")

  val requiredValues: Rule = rule(
    "required-values",
    "Nested Types",
    "A null in a required field is refused when it is written, by the path of the field."
  )("core/data/parquet/RecordShredder.scala")

  val damagedFiles: Rule = rule(
    "damaged-files",
    "Appendix A: Parquet",
    "A damaged or hostile file gives rows or an error that names it, in memory that the file's own size bounds."
  )("core/parquet/ParquetFooterCheck.scala", "core/data/parquet/GuardedPages.scala")
}
