package iceberglite.conformance

/** Spec: "Partitioning", "Sorting", "Appendix B: 32-bit Hash Requirements". */
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
    "A partition field id is unique within a spec, and from version 2 on stands for one field across all specs."
  )("spec/update/Specs.scala")
  val primitiveSources: Rule = rule(
    "primitive-sources",
    Partitioning,
    "Source columns are primitive and not inside of a list or map; inside of a struct is fine."
  )("spec/partition/UnboundField.scala", "spec/partition/SourceCheck.scala")
  val compatibleSpec: Rule = rule(
    "compatible-spec",
    Partitioning,
    "No spec is made where the table has one with the same sources, transforms and names: its id is used again."
  )("spec/partition/PartitionSpec.scala", "spec/update/Specs.scala")
  val fieldIdReused: Rule = rule(
    "field-id-reused",
    Partitioning,
    "A partition field that an earlier spec has keeps its id."
  )("spec/update/SpecUpdate.scala")
  val fieldNames: Rule = rule(
    "field-names",
    Partitioning,
    "Partition field names are unique in a spec and are not those of columns, but for an identity field of the column."
  )("spec/partition/UnboundField.scala", "spec/update/SpecUpdate.scala")
  val partitionPaths: Rule = rule(
    "paths",
    Partitioning,
    "The directory of a partition shows its values as people write them, with names and values encoded as in a URL."
  )("core/table/DataLocations.scala", "spec/partition/Identity.scala")
  val droppedSource: Rule = rule(
    "dropped-source",
    Partitioning,
    "Partition values whose source column no schema has any more stay readable."
  )("spec/partition/PartitionSpec.scala", "core/tree/PartitionSpecs.scala", "core/avro/LiteralDecoder.scala")

  val transformTypes: Rule = rule(
    "transform-types",
    Transforms,
    "Each transform takes the source types of the table of transforms and gives the result type that stands there."
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
    "Transforms give the values that the Java library gives."
  )("spec/partition/Transform.scala")
  val noIdentityOfVariant: Rule = rule(
    "no-identity-of-variant",
    "Version 3 as adopted",
    "There is no identity transform of geometry, geography and variant."
  )("spec/partition/Identity.scala")
  val nullGivesNull: Rule = rule("null-gives-null", Transforms, "Every transform gives null for null.")(
    "spec/partition/Transform.scala"
  )
  val timeFloor: Rule = rule(
    "time-floor",
    Transforms,
    "Years, months, days and hours are counted from 1970 and rounded down, below it too."
  )("spec/partition/TimeTransform.scala", "spec/types/DateTime.scala")
  val dayIsDate: Rule = rule("day-is-date", "Version 3 as adopted", "`day` gives a date, and an int is read too.")(
    "spec/partition/Day.scala",
    "core/avro/LiteralDecoder.scala"
  )
  val orderKept: Rule = rule(
    "order-kept",
    Transforms,
    "Transforms that keep the order of their sources give greater values for greater ones."
  )("spec/partition/Transform.scala")
  val voidIsNull: Rule = rule("void", Transforms, "`void` gives null for every value, and has its source's type.")(
    "spec/partition/Void.scala"
  )
  val unknownKept: Rule = rule(
    "unknown-kept",
    "Version 3 as adopted",
    "A transform that nobody knows is kept, ignored in filters, and no data is written with its spec."
  )("spec/partition/UnknownTransform.scala", "core/table/action/SnapshotAction.scala")
  val multiArgument: Rule = rule(
    "multi-argument",
    "Version 3 as adopted",
    "A field with one source is written with `source-id`, one with several with `source-ids`; either is read."
  )("spec/json/SourceJson.scala")

  val bucketSign: Rule = rule(
    "bucket-masks-sign",
    "Bucket Transform Details",
    "A bucket is the hash without its sign bit, modulo the number of buckets."
  )("spec/partition/Bucket.scala")
  val truncateNumbers: Rule = rule(
    "truncate-numbers",
    "Truncate Transform Details",
    "Numbers are truncated to v - (((v % W) + W) % W), so that what is cut off is never negative."
  )("spec/partition/Truncate.scala")
  val truncateDecimals: Rule = rule(
    "truncate-decimals",
    "Truncate Transform Details",
    "The width of a decimal has the scale of the column."
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

  val hashes: Rule = rule("hashes", Hashes, "Values have the 32-bit Murmur3 hashes of the table in Appendix B.")(
    "spec/Murmur3.scala",
    "spec/partition/Bucket.scala"
  )
  val hashesOfNanos: Rule = rule(
    "hashes-of-nanoseconds",
    "Version 3 as adopted",
    "Timestamps in nanoseconds have the hashes of their microseconds."
  )("spec/partition/Bucket.scala")
  val hashIntAsLong: Rule = rule(
    "hash-of-int-and-long",
    Hashes,
    "Ints and longs of one value have one hash, so that a promotion changes no bucket."
  )("spec/Murmur3.scala")
  val hashDecimal: Rule = rule(
    "hash-of-decimal",
    Hashes,
    "A decimal is hashed by the fewest bytes of its unscaled value, whatever its precision and scale."
  )("spec/Murmur3.scala")

  val specEvolution: Rule = rule(
    "spec-evolution",
    Evolution,
    "A change of the partitioning gives a spec with an id of its own; fields are added, removed, renamed."
  )("spec/update/SpecUpdate.scala")
  val asThePeer: Rule = rule(
    "as-the-java-library",
    Evolution,
    "Changes of the partitioning end as with the Java library: the same fields, ids and names, or both refuse."
  )("spec/update/SpecUpdate.scala")
  val newIdsFromLast: Rule = rule(
    "new-ids-from-last",
    Evolution,
    "From version 2 on new field ids follow the last one that the table's metadata has."
  )("spec/update/SpecUpdate.scala")
  val idsOfV1: Rule = rule(
    "ids-of-version-1",
    Evolution,
    "In version 1 the field ids of each spec count from 1000."
  )("spec/update/Specs.scala", "spec/json/PartitionSpecJson.scala")
  val voidInV1: Rule = rule(
    "void-in-version-1",
    Evolution,
    "In version 1 a field is not dropped or moved but gets the transform void, and new ones are added at the end."
  )("spec/update/SpecUpdate.scala", "spec/table/NewTable.scala")
  val sourceOfVoidMayGo: Rule = rule(
    "source-of-void-may-go",
    Evolution,
    "The source column of a void field may be dropped, that of any other field in use may not."
  )("spec/update/ColumnUse.scala", "spec/partition/SourceCheck.scala")

  val sortFields: Rule = rule(
    "sort-fields",
    Sorting,
    "A sort field has a source column, a transform, a direction and a null order."
  )("spec/partition/SortOrder.scala", "spec/json/SortOrderJson.scala")
  val unsorted: Rule = rule("unsorted", Sorting, "Order 0 is the unsorted order, and no other has no fields.")(
    "spec/partition/SortOrder.scala",
    "spec/update/SortOrders.scala"
  )
  val equalOrder: Rule = rule("equal-order", Sorting, "An order equal to one that the table has reuses its id.")(
    "spec/update/SortOrders.scala"
  )
  val sortSources: Rule = rule(
    "sort-sources",
    Sorting,
    "The sources of a sort order are there, primitive, not inside of a list or map, and of types that can be sorted so."
  )("spec/partition/UnboundField.scala", "spec/partition/SourceCheck.scala")
  val sortNan: Rule = rule(
    "sort-nan",
    Sorting,
    "Floating point numbers are sorted with -NaN first, then -Infinity, values, -0, 0, values, Infinity, NaN."
  )("spec/types/Literal.scala")
}
