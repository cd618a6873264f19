package iceberglite.conformance

/**
 * Rules of the specification section "Appendix C: JSON serialization" and of the view specification, and rules about
 * the JSON of the REST catalog API.
 */
object JsonRules extends RuleBook("json", "JSON") {
  private val Json = "spec/json/JsonValue.scala"
  private val Tables = "Table Metadata and Snapshots"

  val roundTrip: Rule =
    rule(
      "round-trip",
      Tables,
      "Table metadata of every version round-trips through JSON, even if Apache Iceberg reads and writes it in between."
    )(
      "spec/json/TableMetadataJson.scala",
      "spec/json/TableMetadataReader.scala",
      "spec/json/TableMetadataWriter.scala"
    )
  val snapshots: Rule = rule(
    "snapshots",
    Tables,
    "Snapshots have all fields of versions 1 to 3; the field manifests is omitted if there is a manifest list."
  )("spec/json/SnapshotJson.scala")
  val references: Rule = rule(
    "references",
    Tables,
    "References are objects by name with a type, a snapshot and retention settings."
  )("spec/json/SnapshotRefJson.scala")
  val partitionSpecs: Rule = rule(
    "partition-specs",
    "Partition Specs",
    "Either all partition fields of a spec have unique ids, or none has an id; if none has an id, the fields get " +
      "consecutive ids from 1000."
  )("spec/json/PartitionSpecJson.scala")
  val sourceIds: Rule = rule(
    "source-ids",
    "Partition Specs (adopted version 3)",
    "One source is written as source-id, and several sources are written as source-ids; both forms are read."
  )("spec/json/SourceJson.scala")
  val unknownTransforms: Rule = rule(
    "unknown-transforms",
    "Partition Specs",
    "An unknown transform is kept."
  )(
    "spec/json/SourceJson.scala"
  )
  val sortOrders: Rule = rule(
    "sort-orders",
    "Sort Orders",
    "The unsorted order has the id 0, and every other order has fields."
  )(
    "spec/json/SortOrderJson.scala",
    "spec/json/TableMetadataCheck.scala"
  )
  val nameMapping: Rule = rule(
    "name-mapping",
    "Name Mapping Serialization",
    "A name mapping is a list of objects with names, field-id and nested fields; field-id and the nested fields are " +
      "optional."
  )("spec/json/NameMappingJson.scala")
  val contentFiles: Rule = rule(
    "content-files",
    "Content File (Data and Delete) Serialization",
    "Data and delete files have all fields, with maps as keys and values, bytes in hexadecimal, and partitions by " +
      "field id."
  )("spec/json/ContentFileJson.scala")
  val scanTasks: Rule = rule(
    "scan-tasks",
    "File Scan Task Serialization",
    "A task has the schema, partition spec, data file, delete files and residual filter."
  )("spec/json/ScanTaskJson.scala")
  val expressions: Rule = rule(
    "expressions",
    "File Scan Task Serialization",
    "An expression is an object of type, term and value, in the format of Apache Iceberg."
  )("spec/json/ExpressionJson.scala")
  val updates: Rule = rule(
    "updates",
    "REST catalog",
    "Every table update has its REST catalog action and round-trips through JSON."
  )("spec/json/MetadataUpdateJson.scala", "spec/json/SharedUpdates.scala")
  val deprecatedUpdates: Rule = rule(
    "deprecated-updates",
    "REST catalog",
    "Deprecated forms are read: the keys updated and removed for properties, and an added schema without " +
      "last-column-id."
  )("spec/json/SharedUpdates.scala")
  val requirements: Rule = rule(
    "requirements",
    "REST catalog",
    "Every requirement has its REST catalog type and round-trips through JSON."
  )("spec/json/RequirementJson.scala")
  val viewUpdates: Rule = rule(
    "view-updates",
    "REST catalog",
    "Every view update round-trips through JSON."
  )(
    "spec/json/MetadataUpdateJson.scala",
    "spec/json/SharedUpdates.scala"
  )
  val views: Rule = rule(
    "views",
    "View spec: View Metadata (adopted version 1)",
    "View metadata round-trips; contradictory metadata and higher versions are rejected."
  )("spec/json/ViewMetadataJson.scala", "spec/json/ViewVersionJson.scala")
  val earlyViews: Rule = rule(
    "early-views",
    "View spec, Appendix A",
    "The early form of view versions is read, and both forms are written; a version's own fields take precedence."
  )("spec/json/ViewMetadataJson.scala", "spec/json/ViewVersionJson.scala")
  val unknownKeys: Rule = rule("unknown-keys", Tables, "Unknown keys are ignored, and null means absent.")(Json)
  val strict: Rule = rule(
    "strict",
    Tables,
    "A wrong type, a number out of range or a duplicate key is an error that names the file and the JSON path."
  )(Json, "spec/json/JsonTreeReader.scala")
  val hostile: Rule = rule(
    "hostile",
    Tables,
    "Reading any file content ends in bounded time with a value or an IcebergError."
  )(Json, "spec/json/JsonTreeReader.scala")
}
