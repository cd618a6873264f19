package iceberglite.conformance

/** Rules of the specification section "Appendix A: Format-specific Requirements" for Avro and ORC files. */
object FormatRules extends RuleBook("formats", "File formats") {
  private val Avro = "Appendix A: Avro"
  private val Orc = "Appendix A: ORC"
  private val Projected = "Column Projection"
  private val DataFiles = "Manifests, data_file"

  val avroTypes: Rule = rule(
    "avro-types",
    Avro,
    "Every type is written as its Avro type and logical type in the table of Appendix A, and is read from that type."
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroTypes.scala")
  val avroDecimals: Rule = rule(
    "avro-decimals",
    Avro,
    "A decimal is written as the shortest fixed type that holds its precision; a decimal of the Avro type bytes is " +
      "also read."
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroProjection.scala")
  val avroUtc: Rule = rule(
    "avro-adjust-to-utc",
    Avro,
    "adjust-to-utc is true for timestamps with time zone and false for others; false is also the default if it is " +
      "absent."
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroTypes.scala")
  val avroNulls: Rule = rule(
    "avro-nulls",
    Avro,
    "Optional fields, elements and values are unions with null as the first type; fields have the default null."
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroSinks.scala")
  val avroUnions: Rule = rule(
    "avro-unions",
    Avro,
    "A union consists of null and one other type, with null first; in files of other writers, null may be second."
  )("core/avro/FieldDecoder.scala", "core/data/avro/AvroProjection.scala")
  val avroMaps: Rule = rule(
    "avro-maps",
    Avro,
    "A map with keys that are not strings is an array of records with two fields and the logical type map; a map " +
      "with string keys may have either form."
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroProjection.scala")
  val avroIds: Rule = rule(
    "avro-ids",
    Avro,
    "Ids are in field-id, element-id, key-id and value-id; if a map is stored as an array of records, its key id and " +
      "value id are the field-id of the record's fields."
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroNameMapping.scala")
  val avroNames: Rule = rule(
    "avro-names",
    Avro,
    "A name that Avro does not allow is escaped; the original name is kept in iceberg-field-name and restored."
  )("core/avro/FileFieldNames.scala", "core/data/avro/AvroTypes.scala")
  val avroSizes: Rule = rule(
    "avro-column-sizes",
    DataFiles,
    "Avro files have no column sizes, because Avro stores data by row and not by column."
  )("core/data/avro/AvroRecordWriter.scala")
  val avroDamage: Rule = rule(
    "avro-damage",
    Avro,
    "Reading a damaged, truncated or malicious Avro file fails in bounded time and memory, with an error that names " +
      "the file."
  )("core/avro/AvroContainer.scala", "core/avro/AvroInput.scala", "core/avro/AvroCodec.scala")

  val orcTypes: Rule = rule(
    "orc-types",
    Orc,
    "Every type is written as its ORC type and attributes in the table of Appendix A, and is read from them."
  )("core/data/orc/OrcSchemas.scala")
  val orcNarrow: Rule = rule(
    "orc-narrow-types",
    Orc,
    "ORC's tinyint and smallint are read as int, and varchar and char as string."
  )("core/data/orc/OrcSchemas.scala", "core/data/orc/OrcProjection.scala")
  val orcAttributes: Rule = rule(
    "orc-attributes",
    Orc,
    "Every node has iceberg.id and iceberg.required, including elements, keys and values."
  )("core/data/orc/OrcSchemas.scala")
  val orcTimes: Rule = rule(
    "orc-timestamps",
    Orc,
    "Timestamps are read and written with nanosecond precision and do not depend on the machine's time zone, also " +
      "before 1970 and before 2015 (the epoch of ORC). The default unit is microseconds."
  )("core/data/orc/OrcTimestamp.scala", "core/data/orc/OrcValues.scala", "core/data/orc/OrcTail.scala")
  val orcFixed: Rule = rule(
    "orc-fixed",
    Orc,
    "The length of a fixed value is checked, because the ORC library does not check it."
  )("core/data/orc/OrcValues.scala", "core/data/FieldChecks.scala")
  val orcSplits: Rule = rule(
    "orc-split-offsets",
    DataFiles,
    "The split offsets of an ORC file are the offsets of its stripes."
  )("core/data/orc/OrcOutput.scala")
  val orcDamage: Rule = rule(
    "orc-damage",
    Orc,
    "Reading a damaged or truncated ORC file fails with an error that names the file."
  )("core/data/orc/OrcTail.scala", "core/data/FileFaults.scala")

  val variants: Rule = rule(
    "variants",
    Avro,
    "A variant is a record or struct of metadata and value, which have no field ids and are found by name."
  )("core/avro/AvroSchemas.scala", "core/data/orc/OrcSchemas.scala")
  val unknown: Rule = rule(
    "unknown",
    "Schemas and Data Types",
    "A column of type unknown is always null and is not stored."
  )("core/avro/AvroSchemas.scala", "core/data/orc/OrcSchemas.scala")
  val valuesKept: Rule = rule(
    "values",
    "Appendix A",
    "Values round-trip through Avro and ORC files; this library and Apache Iceberg read the same values from each " +
      "other's files."
  )("core/data/avro/AvroData.scala", "core/data/orc/OrcData.scala")
  val byId: Rule = rule(
    "by-id",
    Projected,
    "Columns of Avro and ORC files are found by id at every level, independent of names and order."
  )("core/data/Projection.scala")
  val missing: Rule = rule(
    "missing-columns",
    Projected,
    "A column that the file lacks gets the partition value, otherwise its initial default, otherwise null; if the " +
      "column is required, an error that names its path replaces the null."
  )("core/data/Projection.scala", "spec/partition/ColumnSource.scala")
  val promoted: Rule = rule(
    "promoted",
    "Schema Evolution",
    "Narrower types are read as the promoted type; a date that is out of range fails, and other types are rejected."
  )("core/data/avro/AvroProjection.scala", "core/data/orc/OrcProjection.scala")
  val nameMapping: Rule = rule(
    "name-mapping",
    Projected,
    "A file without any ids gets them by name from schema.name-mapping.default, including nested fields and aliases; " +
      "a file with any id is read only by its ids."
  )("core/data/avro/AvroNameMapping.scala", "core/data/orc/OrcNameMapping.scala")
  val positions: Rule = rule(
    "positions",
    "Reserved Field IDs",
    "_pos is the position of the row in the whole file, counted from 0."
  )("core/data/avro/AvroRecords.scala", "core/data/orc/OrcRecords.scala")
  val requiredValues: Rule = rule(
    "required-values",
    "Default values",
    "Writing a row without a value for a required field fails."
  )("core/data/FieldChecks.scala")
  val metrics: Rule = rule(
    "metrics",
    DataFiles,
    "Counts and bounds of Avro and ORC files match the rows and the metrics mode of each column."
  )("core/data/RecordMetrics.scala", "core/metrics/ColumnBounds.scala")
}
