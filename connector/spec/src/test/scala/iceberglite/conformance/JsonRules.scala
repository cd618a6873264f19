package iceberglite.conformance

/** Spec: "Appendix C: JSON serialization", the vocabulary of the REST catalog, and the view spec. */
object JsonRules extends RuleBook("json", "JSON") {
  private val Json = "spec/json/JsonValue.scala"
  private val Tables = "Table Metadata and Snapshots"

  val roundTrip: Rule =
    rule(
      "round-trip",
      Tables,
      "Table metadata of every version is read as it was written, by us and by Apache Iceberg."
    )(
      "spec/json/TableMetadataJson.scala",
      "spec/json/TableMetadataReader.scala",
      "spec/json/TableMetadataWriter.scala"
    )
  val snapshots: Rule = rule(
    "snapshots",
    Tables,
    "Snapshots have all fields of versions 1 to 3; manifests are left out where there is a manifest list."
  )("spec/json/SnapshotJson.scala")
  val references: Rule = rule(
    "references",
    Tables,
    "References are objects by name with a type, a snapshot and what they say of retention."
  )("spec/json/SnapshotRefJson.scala")
  val partitionSpecs: Rule = rule(
    "partition-specs",
    "Partition Specs",
    "Fields of a spec have ids or, all of them, none: then they are counted from 1000. Neither ids nor names repeat."
  )("spec/json/PartitionSpecJson.scala")
  val sourceIds: Rule = rule(
    "source-ids",
    "Partition Specs, as adopted",
    "One argument is written as source-id only, several as source-ids only; either is read."
  )("spec/json/SourceJson.scala")
  val unknownTransforms: Rule =
    rule("unknown-transforms", "Partition Specs", "A transform that is not known is kept.")(
      "spec/json/SourceJson.scala"
    )
  val sortOrders: Rule =
    rule("sort-orders", "Sort Orders", "The unsorted order is 0, and no other has no fields.")(
      "spec/json/SortOrderJson.scala",
      "spec/json/TableMetadataCheck.scala"
    )
  val nameMapping: Rule = rule(
    "name-mapping",
    "Name Mapping Serialization",
    "A mapping is a list of names, field-id and nested fields; id and nested fields may be left out."
  )("spec/json/NameMappingJson.scala")
  val contentFiles: Rule = rule(
    "content-files",
    "Content File (Data and Delete) Serialization",
    "Data and delete files have all fields, maps as keys and values, bytes as hexadecimal, partitions by field id."
  )("spec/json/ContentFileJson.scala")
  val scanTasks: Rule = rule(
    "scan-tasks",
    "File Scan Task Serialization",
    "A task has schema, spec, data file, delete files and what is left of the filter."
  )("spec/json/ScanTaskJson.scala")
  val expressions: Rule = rule(
    "expressions",
    "File Scan Task Serialization",
    "A condition is an object of type, term and value, as Apache Iceberg writes it."
  )("spec/json/ExpressionJson.scala")
  val updates: Rule = rule(
    "updates",
    "REST catalog",
    "Every change of a table has its action of the REST catalog, and is read as it was written."
  )("spec/json/MetadataUpdateJson.scala", "spec/json/SharedUpdates.scala")
  val deprecatedUpdates: Rule = rule(
    "deprecated-updates",
    "REST catalog",
    "The names of before are read: updated, removed, and a schema without last-column-id."
  )("spec/json/SharedUpdates.scala")
  val requirements: Rule = rule(
    "requirements",
    "REST catalog",
    "Every precondition has its type of the REST catalog, and is read as it was written."
  )("spec/json/RequirementJson.scala")
  val viewUpdates: Rule =
    rule("view-updates", "REST catalog", "Every change of a view is read as it was written.")(
      "spec/json/MetadataUpdateJson.scala",
      "spec/json/SharedUpdates.scala"
    )
  val views: Rule = rule(
    "views",
    "View spec, as adopted",
    "View metadata is read as it was written; what contradicts itself and higher versions are refused."
  )("spec/json/ViewMetadataJson.scala", "spec/json/ViewVersionJson.scala")
  val earlyViews: Rule = rule(
    "early-views",
    "View spec, Appendix A",
    "The early form is read, both are written, and what a version says counts before what its queries say."
  )("spec/json/ViewMetadataJson.scala", "spec/json/ViewVersionJson.scala")
  val unknownKeys: Rule = rule("unknown-keys", Tables, "Keys that nobody knows are ignored, null is absence.")(Json)
  val strict: Rule = rule(
    "strict",
    Tables,
    "A wrong type, a number out of range or a repeated key is an error that names the file and the place."
  )(Json, "spec/json/JsonTreeReader.scala")
  val hostile: Rule = rule(
    "hostile",
    Tables,
    "Whatever stands in a file, reading it ends soon in a value or in a typed error."
  )(Json, "spec/json/JsonTreeReader.scala")
}
