package iceberglite.conformance

/** Rules of the specification sections "Partitioning", "Sorting" and "Appendix B: 32-bit Hash Requirements". */
object PartitionRules extends RuleBook("partitions", "Partitioning and sorting") {
  private val Partitioning = "Partitioning"
  private val Transforms = "Partition Transforms"
  private val Evolution = "Partition Evolution"
  private val Sorting = "Sorting"
  private val Hashes = "Appendix B: 32-bit Hash Requirements"

  val specFields: Rule = rule(
    "spec-fields",
    Partitioning,
    "A partition field has one or more source columns, an id, a transform and a name."
  )("spec/partition/PartitionSpec.scala", "spec/json/PartitionSpecJson.scala")
  val fieldIdsUnique: Rule = rule(
    "field-ids-unique",
    Partitioning,
    "A partition field id is unique in a partition spec; in version 2 and later, it is unique across all specs."
  )("spec/update/Specs.scala")
  val primitiveSources: Rule = rule(
    "primitive-sources",
    Partitioning,
    "Source columns are primitive and not nested in a list or map; they may be nested in a struct."
  )("spec/partition/UnboundField.scala", "spec/partition/SourceCheck.scala")
  val compatibleSpec: Rule = rule(
    "compatible-spec",
    Partitioning,
    "A partition spec with the same sources, transforms and names as an existing spec reuses the id of that spec."
  )("spec/partition/PartitionSpec.scala", "spec/update/Specs.scala")
  val fieldIdReused: Rule = rule(
    "field-id-reused",
    Partitioning,
    "A partition field that exists in an earlier partition spec keeps its id."
  )("spec/update/PartitionSpecChanges.scala")
  val fieldNames: Rule = rule(
    "field-names",
    Partitioning,
    "Partition field names are unique in a partition spec. Only an identity field can have the name of its column."
  )("spec/partition/UnboundField.scala", "spec/update/PartitionSpecChanges.scala")
  val partitionPaths: Rule = rule(
    "paths",
    Partitioning,
    "The directory of a partition shows its values in readable form, with URL-encoded names and values."
  )("core/table/DataLocations.scala", "spec/partition/Identity.scala")
  val droppedSource: Rule = rule(
    "dropped-source",
    Partitioning,
    "Partition values stay readable after their source column was dropped."
  )("spec/partition/PartitionSpec.scala", "core/tree/PartitionSpecs.scala", "core/avro/LiteralDecoder.scala")

  val transformTypes: Rule = rule(
    "transform-types",
    Transforms,
    "Each transform has the source types and the result type that the specification's table of transforms lists."
  )(
    "spec/partition/Identity.scala",
    "spec/partition/Bucket.scala",
    "spec/partition/Truncate.scala",
    "spec/partition/TimeTransform.scala",
    "spec/partition/Void.scala"
  )
  val transformValues: Rule = rule(
    "transform-values",
    Transforms,
    "Transforms give the same values as in Apache Iceberg."
  )("spec/partition/Transform.scala")
  val noIdentityOfVariant: Rule = rule(
    "no-identity-of-variant",
    "Table specification (adopted version 3)",
    "Geometry, geography and variant have no identity transform."
  )("spec/partition/Identity.scala")
  val nullGivesNull: Rule = rule("null-gives-null", Transforms, "Every transform gives null for null.")(
    "spec/partition/Transform.scala"
  )
  val timeFloor: Rule = rule(
    "time-floor",
    Transforms,
    "Years, months, days and hours are counted from 1970 and rounded down, even before 1970."
  )("spec/partition/TimeTransform.scala", "spec/types/DateTime.scala")
  val dayIsDate: Rule = rule(
    "day-is-date",
    "Table specification (adopted version 3)",
    "`day` gives a date; an int is also read."
  )(
    "spec/partition/Day.scala",
    "core/avro/LiteralDecoder.scala"
  )
  val orderKept: Rule = rule(
    "order-kept",
    Transforms,
    "Order-preserving transforms give greater or equal results for greater values."
  )("spec/partition/Transform.scala")
  val voidIsNull: Rule = rule("void", Transforms, "`void` gives null for every value, and has the type of its source.")(
    "spec/partition/Void.scala"
  )
  val unknownKept: Rule = rule(
    "unknown-kept",
    "Table specification (adopted version 3)",
    "An unknown transform is kept and ignored by filters, and no data is written with its spec."
  )("spec/partition/UnknownTransform.scala", "core/table/action/SnapshotAction.scala")
  val multiArgument: Rule = rule(
    "multi-argument",
    "Table specification (adopted version 3)",
    "A field with one source has the key `source-id`, and a field with several sources has `source-ids`."
  )("spec/json/SourceJson.scala")

  val bucketSign: Rule = rule(
    "bucket-masks-sign",
    "Bucket Transform Details",
    "A bucket is the hash without its sign bit, modulo the number of buckets."
  )("spec/partition/Bucket.scala")
  val truncateNumbers: Rule = rule(
    "truncate-numbers",
    "Truncate Transform Details",
    "Numbers are truncated to v - (((v % W) + W) % W), which rounds towards negative infinity."
  )("spec/partition/Truncate.scala")
  val truncateDecimals: Rule = rule(
    "truncate-decimals",
    "Truncate Transform Details",
    "For a decimal column, the width is a number of units of the last decimal place of the column's scale."
  )("spec/partition/Truncate.scala")
  val truncateStrings: Rule = rule(
    "truncate-strings",
    "Truncate Transform Details",
    "Strings are truncated to at most L code points."
  )("spec/partition/Truncate.scala")
  val truncateBinary: Rule = rule(
    "truncate-binary",
    "Truncate Transform Details",
    "Binary values are truncated to L bytes."
  )("spec/partition/Truncate.scala")

  val hashes: Rule = rule("hashes", Hashes, "The 32-bit Murmur3 hashes equal those in the table of Appendix B.")(
    "spec/types/Murmur3.scala",
    "spec/partition/Bucket.scala"
  )
  val hashesOfNanos: Rule = rule(
    "hashes-of-nanoseconds",
    "Table specification (adopted version 3)",
    "Nanosecond timestamps are hashed as microseconds."
  )("spec/partition/Bucket.scala")
  val hashIntAsLong: Rule = rule(
    "hash-of-int-and-long",
    Hashes,
    "An int and a long with the same value have the same hash, so that promotion does not change buckets."
  )("spec/types/Murmur3.scala")
  val hashDecimal: Rule = rule(
    "hash-of-decimal",
    Hashes,
    "A decimal is hashed by the shortest bytes of its unscaled value, independent of precision and scale."
  )("spec/types/Murmur3.scala")

  val specEvolution: Rule = rule(
    "spec-evolution",
    Evolution,
    "A change of the partitioning creates a partition spec with a new id; fields can be added, removed and replaced."
  )("spec/update/PartitionSpecChanges.scala")
  val sameAsApacheIceberg: Rule = rule(
    "same-as-apache-iceberg",
    Evolution,
    "A change of the partition spec gives the same fields, ids and names as in Apache Iceberg, or both reject it."
  )("spec/update/PartitionSpecChanges.scala")
  val newIdsFromLast: Rule = rule(
    "new-ids-from-last",
    Evolution,
    "In version 2 and later, new field ids follow the last assigned partition field id of the table."
  )("spec/update/PartitionSpecChanges.scala")
  val idsOfV1: Rule = rule(
    "ids-of-version-1",
    Evolution,
    "In version 1, the field ids of each partition spec are consecutive and start at 1000."
  )("spec/update/Specs.scala", "spec/json/PartitionSpecJson.scala")
  val voidInV1: Rule = rule(
    "void-in-version-1",
    Evolution,
    "In version 1 a removed field is replaced with void in its position, and new fields are added at the end."
  )("spec/update/PartitionSpecChanges.scala", "spec/table/NewTable.scala")
  val sourceOfVoidCanBeDropped: Rule = rule(
    "source-of-void-can-be-dropped",
    Evolution,
    "The source column of a void field can be dropped; the source columns of other current fields cannot be dropped."
  )("spec/update/ColumnReferences.scala", "spec/partition/SourceCheck.scala")

  val sortFields: Rule = rule(
    "sort-fields",
    Sorting,
    "A sort field has a source column, a transform, a direction and a null order."
  )("spec/partition/SortOrder.scala", "spec/json/SortOrderJson.scala")
  val unsorted: Rule = rule("unsorted", Sorting, "Order 0 is the unsorted order, and every other order has fields.")(
    "spec/partition/SortOrder.scala",
    "spec/update/SortOrders.scala"
  )
  val equalOrder: Rule = rule("equal-order", Sorting, "A sort order that equals an existing sort order reuses its id.")(
    "spec/update/SortOrders.scala"
  )
  val sortSources: Rule = rule(
    "sort-sources",
    Sorting,
    "The source columns of a sort order exist, are primitive, are not nested in a list or map, and have sortable types."
  )("spec/partition/UnboundField.scala", "spec/partition/SourceCheck.scala")
  val sortNan: Rule = rule(
    "sort-nan",
    Sorting,
    "Floating-point numbers are sorted as -Infinity, negative values, -0, 0, positive values, Infinity, NaN. As in " +
      "Java's comparison, to which the section refers, a NaN has no sign."
  )("spec/types/Literal.scala")
}
