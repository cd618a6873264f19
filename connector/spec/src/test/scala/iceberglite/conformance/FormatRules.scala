package iceberglite.conformance

/** Spec: "Appendix A: Format-specific Requirements". */
object FormatRules extends RuleBook("formats", "File formats") {
  private val Avro = "Appendix A: Avro"
  private val Orc = "Appendix A: ORC"
  private val Projected = "Column Projection"
  private val DataFiles = "Manifests, data_file"

  val avroTypes: Rule = rule(
    "avro-types",
    Avro,
    "Every type is stored as the Avro type and logical type of the table, and read back from it"
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroTypes.scala")
  val avroDecimals: Rule = rule(
    "avro-decimals",
    Avro,
    "A decimal is a fixed of the fewest bytes that hold its precision; one in bytes is read too"
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroProjection.scala")
  val avroUtc: Rule = rule(
    "avro-adjust-to-utc",
    Avro,
    "Timestamps with a zone have adjust-to-utc true, the others false, which is also what its absence means"
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroTypes.scala")
  val avroNulls: Rule = rule(
    "avro-nulls",
    Avro,
    "Optional fields, elements and values are unions with null, which comes first, and fields have null as default"
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroSinks.scala")
  val avroUnions: Rule = rule(
    "avro-unions",
    Avro,
    "No other union is allowed; null may stand second in what others wrote"
  )("core/avro/FieldDecoder.scala", "core/data/avro/AvroProjection.scala")
  val avroMaps: Rule = rule(
    "avro-maps",
    Avro,
    "A map whose keys are no strings is an array of records of two fields with the logical type map; one with string " +
      "keys may be either"
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroProjection.scala")
  val avroIds: Rule = rule(
    "avro-ids",
    Avro,
    "Ids stand in field-id, element-id, key-id and value-id, those of a map of records in its fields' field-id"
  )("core/avro/AvroSchemas.scala", "core/data/avro/AvroNameMapping.scala")
  val avroNames: Rule = rule(
    "avro-names",
    Avro,
    "A name that Avro forbids is escaped, kept in iceberg-field-name, and restored from there"
  )("core/avro/FileFieldNames.scala", "core/data/avro/AvroTypes.scala")
  val avroSizes: Rule = rule(
    "avro-column-sizes",
    DataFiles,
    "Avro files have no column sizes, for they store rows"
  )("core/data/avro/AvroRecordWriter.scala")
  val avroDamage: Rule = rule(
    "avro-damage",
    Avro,
    "A damaged, cut off or hostile Avro file is an error that names it, in bounded time and memory"
  )("core/avro/AvroContainer.scala", "core/avro/AvroInput.scala", "core/avro/AvroCodec.scala")

  val orcTypes: Rule = rule(
    "orc-types",
    Orc,
    "Every type is stored as the ORC type with the attributes of the table, and read back from it"
  )("core/data/orc/OrcSchemas.scala")
  val orcNarrow: Rule = rule(
    "orc-narrow-types",
    Orc,
    "ORC's tinyint and smallint are int, its varchar and char are string"
  )("core/data/orc/OrcSchemas.scala", "core/data/orc/OrcProjection.scala")
  val orcAttributes: Rule = rule(
    "orc-attributes",
    Orc,
    "iceberg.id and iceberg.required stand on every node, those of elements, keys and values too"
  )("core/data/orc/OrcSchemas.scala")
  val orcTimes: Rule = rule(
    "orc-timestamps",
    Orc,
    "Timestamps are instants or local times with nanoseconds, whatever the zone of the machine, also before 2015 and " +
      "1970; what is less than a second is taken once; the unit is microseconds where the file does not say"
  )("core/data/orc/OrcTimestamp.scala", "core/data/orc/OrcValues.scala", "core/data/orc/OrcTail.scala")
  val orcFixed: Rule = rule(
    "orc-fixed",
    Orc,
    "The length of a fixed is checked, for the ORC library does not"
  )("core/data/orc/OrcValues.scala", "core/data/FieldChecks.scala")
  val orcSplits: Rule = rule(
    "orc-split-offsets",
    DataFiles,
    "The split offsets of an ORC file are where its stripes start"
  )("core/data/orc/OrcOutput.scala")
  val orcDamage: Rule = rule(
    "orc-damage",
    Orc,
    "A damaged or cut off ORC file is an error that names it"
  )("core/data/orc/OrcTail.scala", "core/data/FileFaults.scala")

  val variants: Rule = rule(
    "variants",
    Avro,
    "A variant is a record or struct of metadata and value, which have no field ids and go by their names"
  )("core/avro/AvroSchemas.scala", "core/data/orc/OrcSchemas.scala")
  val unknown: Rule = rule(
    "unknown",
    "Schemas and Data Types",
    "A column of type unknown is always null and takes no byte in a file"
  )("core/avro/AvroSchemas.scala", "core/data/orc/OrcSchemas.scala")
  val valuesKept: Rule = rule(
    "values",
    "Appendix A",
    "Values come back from Avro and ORC files as they were, in this library and in Apache Iceberg, both ways"
  )("core/data/avro/AvroData.scala", "core/data/orc/OrcData.scala")
  val byId: Rule = rule(
    "by-id",
    Projected,
    "Columns of Avro and ORC files are found by id at every level, whatever their names and order"
  )("core/data/Projection.scala")
  val missing: Rule = rule(
    "missing-columns",
    Projected,
    "A column that the file lacks has the partition's value, its initial default, or null; without any, a required " +
      "one is an error that names the path"
  )("core/data/Projection.scala", "spec/partition/ColumnSource.scala")
  val promoted: Rule = rule(
    "promoted",
    "Schema Evolution",
    "Values of narrower types are read as the promoted type, a date that is out of range fails, and other types are refused"
  )("core/data/avro/AvroProjection.scala", "core/data/orc/OrcProjection.scala")
  val nameMapping: Rule = rule(
    "name-mapping",
    Projected,
    "A file without any id gets its ids by the names in schema.name-mapping.default, nested and with several names, " +
      "and one with an id anywhere goes by its ids alone"
  )("core/data/avro/AvroNameMapping.scala", "core/data/orc/OrcNameMapping.scala")
  val positions: Rule = rule(
    "positions",
    "Reserved Field IDs",
    "_pos is the ordinal of the row in the whole file"
  )("core/data/avro/AvroRecords.scala", "core/data/orc/OrcRecords.scala")
  val requiredValues: Rule = rule(
    "required-values",
    "Default values",
    "A row without a value for a required field is not written"
  )("core/data/FieldChecks.scala")
  val metrics: Rule = rule(
    "metrics",
    DataFiles,
    "Counts and bounds of Avro and ORC files are those of the rows, by each column's mode"
  )("core/data/RecordMetrics.scala", "core/metrics/ColumnBounds.scala")
}
