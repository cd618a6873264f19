package iceberglite.spec.update

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{EvolutionRules, PartitionRules, TypeRules}
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError._
import iceberglite.spec.SampleTables._
import iceberglite.spec.partition.{Bucket, Day, Identity, Month, UnboundPartitionField, UnboundSortField, Year}
import iceberglite.spec.schema.{Schema, SchemaCheck}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.DefaultValue.OfPrimitive
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class SchemaChangesSuite extends AnyFunSuite {
  private val table = empty(V2)
  private val start = SchemaChanges(table)

  private def path(parts: String*): Vector[String] = parts.toVector

  private def field(update: SchemaChanges, name: String): NestedField = update.result._1.require(name)

  private def rejection(change: => SchemaChanges): String = intercept[ValidationFailed](change.result).getMessage

  private def names(update: SchemaChanges): Vector[String] = update.result._1.fields.map(_.name)

  test("a new column gets the next id, and its nested fields get the following ids", EvolutionRules.freshIds) {
    val struct = StructType(Vector(NestedField.optional(1, "a", IntType), NestedField.optional(1, "b", StringType)))
    val update = start.addColumn(path(), "extra", ListType(1, struct, true), Some("More"))
    val (schema, last) = update.result
    val added = schema.fields.last
    assert(added.id == table.lastColumnId + 1)
    assert(added.doc.contains("More"))
    assert(schema.require("extra.element").id == table.lastColumnId + 2)
    assert(schema.require("extra.element.b").id == table.lastColumnId + 4)
    assert(last == table.lastColumnId + 4)
    assert(update.lastColumnId == last)
  }

  test(
    "columns are added to structs, to structs in a list, and to structs that are map values",
    EvolutionRules.nestedEvolution
  ) {
    val withMap = start.addColumn(path(), "byKey", MapType(0, StringType, 0, StructType(Vector.empty), true))
    val update = withMap
      .addColumn(path("location"), "alt", DoubleType)
      .addColumn(path("points"), "z", IntType)
      .addColumn(path("points", "element"), "w", IntType)
      .addColumn(path("byKey"), "v", IntType)
    val added = Seq("location.alt", "points.element.z", "points.element.w", "byKey.value.v")
    added.foreach(name => assert(field(update, name).optional))
  }

  test("a column cannot be added to a column that has no fields") {
    assert(intercept[InvalidArgument](start.addColumn(path("id"), "x", IntType)).getMessage.contains("only structs"))
    val error = intercept[NotFound](start.addColumn(path("nowhere"), "x", IntType))
    assert(error.getMessage.contains("The columns are id, ts"))
  }

  test("an existing name is rejected, ignoring case when the session is case-insensitive") {
    assert(intercept[ColumnExists](start.addColumn(path("location"), "lat", IntType)) ==
      ColumnExists("add", "location.lat", StructType(start.schema.fields).toString))
    val caseInsensitive = SchemaChanges(table, caseSensitive = false)
    intercept[ColumnExists](caseInsensitive.addColumn(path(), "ID", IntType))
    assert(field(start.addColumn(path(), "ID", IntType), "ID").id == table.lastColumnId + 1)
  }

  test("a column named a.b is not found by the path with the parts a and b") {
    val update = start.addColumn(path(), "location.alt", IntType).renameColumn(path("location.alt"), "a.b")
    assert(names(update).last == "a.b")
    intercept[NotFound](update.dropColumn(path("a", "b")))
  }

  test(
    "a required column without a default is rejected, with advice in the message",
    EvolutionRules.requiredNeedsDefaults
  ) {
    val message = rejection(start.addColumn(path("location"), "alt", IntType, required = true))
    assert(message.contains("location.alt"))
    assert(message.contains("Add the column as an optional column"))
  }

  test(
    "in version 3 and later, a column can be added with a default for old and new rows",
    EvolutionRules.defaultsOfAdded,
    EvolutionRules.requiredNeedsDefaults
  ) {
    val update = SchemaChanges(empty(V3)).addColumn(
      path(),
      "n",
      IntType,
      required = true,
      default = Some(OfPrimitive(IntLiteral(7)))
    )
    val added = field(update, "n")
    assert(added.required)
    assert(added.initialDefault.contains(OfPrimitive(IntLiteral(7))) && added.writeDefault.contains(
      OfPrimitive(IntLiteral(7))
    ))
    val changed = field(update.updateDefault(path("n"), Some(OfPrimitive(IntLiteral(8)))), "n")
    assert(changed.initialDefault.contains(OfPrimitive(IntLiteral(7))) && changed.writeDefault.contains(
      OfPrimitive(IntLiteral(8))
    ))
    intercept[Unsupported](start.addColumn(path(), "n", IntType, default = Some(OfPrimitive(IntLiteral(7)))).result)
    val wrongType =
      SchemaChanges(empty(V3)).addColumn(path(), "n", IntType, default = Some(OfPrimitive(StringLiteral("7"))))
    assert(intercept[InvalidArgument](wrongType.result).name == "default of column n")
  }

  test("a type of a later version is rejected with a message that names the required version") {
    val error = intercept[Unsupported](start.addColumn(path(), "v", ListType(0, VariantType, false)))
    assert(error.getMessage.contains("variant of column v.element"))
    assert(error.getMessage.contains("format-version to 3"))
    SchemaChanges(empty(V3)).addColumn(path(), "v", ListType(0, VariantType, false)).result
  }

  test("a column of type unknown cannot be NOT NULL") {
    val update = SchemaChanges(empty(V3))
    update.addColumn(path(), "u", UnknownType).result
    val required =
      update.addColumn(path(), "u", UnknownType, required = true, default = Some(OfPrimitive(IntLiteral(1))))
    assert(intercept[InvalidArgument](required.result).getMessage.contains("cannot be NOT NULL"))
  }

  test(
    "a dropped column's id is not reused, and a column added with the same name is a new column",
    EvolutionRules.freshIds
  ) {
    val update = start.dropColumn(path("amount")).addColumn(path(), "amount", DecimalType(9, 2))
    assert(field(update, "amount").id == table.lastColumnId + 1)
    assert(update.result._1.byId.get(table.schema.require("amount").id).isEmpty)
  }

  test("dropping a struct drops its fields", EvolutionRules.deletion) {
    val schema = start.dropColumn(path("location")).result._1
    assert(schema.find("location.lat").isEmpty)
    assert(start.dropColumn(path("location", "lon")).result._1.find("location.lat").isDefined)
  }

  test("a column that was dropped or renamed is not found by later changes of the same update") {
    intercept[NotFound](start.dropColumn(path("amount")).renameColumn(path("amount"), "x"))
    intercept[NotFound](start.renameColumn(path("amount"), "x").dropColumn(path("amount")))
    assert(!names(start.renameColumn(path("amount"), "x").dropColumn(path("x"))).contains("x"))
  }

  test(
    "the source of the current partitioning or sort order cannot be dropped, directly or with its struct",
    PartitionRules.sourceOfVoidCanBeDropped
  ) {
    val byLat = empty(V2, UnboundPartitionField(Vector("location", "lat"), Identity))
    assert(rejection(SchemaChanges(byLat).dropColumn(path("location", "lat"))).contains("partition field location.lat"))
    assert(rejection(SchemaChanges(byLat).dropColumn(path("location"))).contains("DROP PARTITION FIELD"))
    val sorted = description(V2).copy(order = Vector(UnboundSortField(Vector("id")))).metadata(Uuid, CreatedMs)
    assert(rejection(SchemaChanges(sorted).dropColumn(path("id"))).contains("sort order"))
  }

  test(
    "the source of a partition field that version 1 keeps as void can be dropped",
    PartitionRules.sourceOfVoidCanBeDropped
  ) {
    val base = empty(V1, byDay)
    val unpartitioned =
      MetadataUpdate.applyAll(base, PartitionSpecChanges(base).removeField("ts_day").updates, CreatedMs)
    val dropped = SchemaChanges(unpartitioned).dropColumn(path("ts"))
    val next = MetadataUpdate.applyAll(unpartitioned, dropped.updates, CreatedMs)
    assert(next.schema.find("ts").isEmpty)
  }

  test(
    "identifier fields follow a rename, cannot be dropped or made optional, and are not optional or floating-point",
    EvolutionRules.identifierKept,
    EvolutionRules.identifierTypes,
    EvolutionRules.identifierNesting
  ) {
    val keyed = start.setIdentifierFields(Seq(path("id")))
    assert(keyed.renameColumn(path("id"), "key").result._1.identifierFieldIds == Set(1))
    assert(rejection(keyed.dropColumn(path("id"))).contains("id is an identifier field"))
    assert(!names(keyed.setIdentifierFields(Nil).dropColumn(path("id"))).contains("id"))
    Seq(
      keyed.makeOptional(path("id")),
      start.setIdentifierFields(Seq(path("ts"))),
      start.setIdentifierFields(Seq(path("location", "lat"))),
      start.setIdentifierFields(Seq(path("location"))),
      start.setIdentifierFields(Seq(path("points", "element", "x")))
    ).foreach(update => assert(intercept[InvalidArgument](update.result).name == "identifier field"))
  }

  test("a required field in an optional struct cannot be an identifier field", EvolutionRules.identifierNesting) {
    val update = start.makeOptional(path("location")).updateType(path("id"), LongType)
    val schema = update.result._1
    val lat = NestedField.required(50, "key", IntType)
    val nested = schema.copy(
      fields = schema.fields :+ NestedField.optional(49, "s", StructType(Vector(lat))),
      identifierFieldIds = Set(50)
    )
    assert(intercept[InvalidArgument](SchemaCheck(nested, V2)).getMessage.contains("inside s"))
  }

  test(
    "a renamed column keeps its id; the new name may differ only in case, but must not exist or be empty",
    EvolutionRules.renameKeepsId,
    TypeRules.uniqueNames
  ) {
    assert(field(start.renameColumn(path("location", "lat"), "latitude"), "location.latitude").id == 8)
    val caseInsensitive = SchemaChanges(table, caseSensitive = false)
    assert(names(caseInsensitive.renameColumn(path("id"), "Id")).head == "Id")
    assert(intercept[ColumnExists](caseInsensitive.renameColumn(path("id"), "TS")).operation == "rename")
    intercept[InvalidArgument](start.renameColumn(path("id"), ""))
  }

  test("int, float and decimal columns can be widened", EvolutionRules.promotions, EvolutionRules.nestedEvolution) {
    val update = start
      .updateType(path("id"), LongType)
      .updateType(path("location", "lat"), DoubleType)
      .updateType(path("amount"), DecimalType(12, 2))
      .updateType(path("tags", "value"), LongType)
      .updateType(path("points", "element", "x"), LongType)
    assert(field(update, "id").fieldType == LongType)
    assert(field(update, "location.lat").fieldType == DoubleType)
    assert(field(update, "amount").fieldType == DecimalType(12, 2))
    assert(field(update, "tags.value").fieldType == LongType)
    assert(field(update, "points.element.x").fieldType == LongType)
  }

  test(
    "the error for another type change names the column and both types",
    EvolutionRules.promotions,
    EvolutionRules.primitiveStaysPrimitive,
    EvolutionRules.errorsNamePaths
  ) {
    Seq(
      ("id", IntType, StringType),
      ("amount", DecimalType(9, 2), DecimalType(12, 3)),
      ("amount", DecimalType(9, 2), DecimalType(8, 2)),
      ("day", DateType, TimestampType)
    ).foreach { case (name, from, to) =>
      assert(rejection(start.updateType(path(name), to)).contains(s"column $name from $from to $to"))
    }
    assert(rejection(start.updateType(path("location"), IntType)).contains("to int"))
    assert(start.updateType(path("id"), IntType).result._1 == table.schema)
  }

  test("version 3 promotes date to timestamp, and unknown to string", EvolutionRules.promotionsOfV3) {
    val base = SchemaChanges(empty(V3)).addColumn(path(), "u", UnknownType)
    val update = base.updateType(path("day"), TimestampType).updateType(path("u"), StringType)
    assert(field(update, "day").fieldType == TimestampType)
    assert(field(update, "u").fieldType == StringType)
    assert(rejection(base.updateType(path("day"), TimestampTzType)).contains("date to timestamp"))
  }

  test("a date column cannot be promoted if its partition values would change", EvolutionRules.promotionOfSource) {
    val day = Vector("day")
    Seq(Identity, Bucket(4)).foreach { t =>
      val base = SchemaChanges(empty(V3, UnboundPartitionField(day, t)))
      assert(rejection(base.updateType(day, TimestampType)).contains("other values for the same rows"))
    }
    Seq(Year, Month, Day).foreach { t =>
      SchemaChanges(empty(V3, UnboundPartitionField(day, t))).updateType(day, TimestampType).result
    }
    val base = empty(V3, UnboundPartitionField(day, Identity))
    val dropped = MetadataUpdate.applyAll(base, PartitionSpecChanges(base).removeField("day").updates, CreatedMs)
    assert(rejection(SchemaChanges(dropped).updateType(day, TimestampType)).contains("partition field day"))
  }

  test("defaults are promoted with their column", EvolutionRules.initialDefaultStays, EvolutionRules.outOfRange) {
    val base = SchemaChanges(empty(V3))
      .addColumn(path(), "n", IntType, default = Some(OfPrimitive(IntLiteral(7))))
      .addColumn(path(), "d", DateType, default = Some(OfPrimitive(DateLiteral(1))))
      .addColumn(path(), "far", DateType, default = Some(OfPrimitive(DateLiteral(Int.MaxValue))))
    val update = base.updateType(path("n"), LongType).updateType(path("d"), TimestampNsType)
    assert(field(update, "n").initialDefault.contains(OfPrimitive(LongLiteral(7))))
    assert(field(update, "d").writeDefault.contains(OfPrimitive(TimestampNsLiteral(86400000000000L))))
    intercept[InvalidArgument](base.updateType(path("far"), TimestampNsType))
  }

  test("comments are set and removed") {
    assert(field(start.updateDoc(path("ts"), None), "ts").doc.isEmpty)
    assert(field(start.updateDoc(path("location", "lon"), Some("East")), "location.lon").doc.contains("East"))
  }

  test(
    "a required column can become optional, but an optional column cannot become required",
    EvolutionRules.optionalNotRequired
  ) {
    assert(field(start.makeOptional(path("id")), "id").optional)
    assert(field(start.makeOptional(path("points", "element")), "points.element").optional)
    assert(start.requireColumn(path("id")).result._1 == table.schema)
    val message = rejection(start.requireColumn(path("ts")))
    assert(message.contains("ts") && message.contains("may contain null"))
    rejection(start.addColumn(path(), "x", IntType).requireColumn(path("x")))
    val added = SchemaChanges(empty(V3)).addColumn(path(), "x", IntType, default = Some(OfPrimitive(IntLiteral(1))))
    assert(field(added.requireColumn(path("x")), "x").required)
  }

  test("columns move within their struct", EvolutionRules.reorder) {
    assert(names(start.moveFirst(path("amount"))).take(2) == Vector("amount", "id"))
    assert(names(start.moveAfter(path("id"), "ts")).take(2) == Vector("ts", "id"))
    val nested = start.moveFirst(path("points", "element", "y")).result._1.require("points.element")
    assert(nested.fieldType.asInstanceOf[StructType].fields.map(_.name) == Vector("y", "x"))
  }

  test(
    "a column cannot move next to a column of another struct or next to itself",
    EvolutionRules.noMoveBetweenStructs
  ) {
    val error = intercept[NotFound](start.moveAfter(path("location", "lat"), "id"))
    assert(error.getMessage.contains("within its struct, next to lon"))
    intercept[NotFound](start.moveAfter(path("id"), "id"))
    assert(rejection(start.moveFirst(path("points", "element"))).contains("a part of points"))
  }

  test("a map key cannot be changed", EvolutionRules.mapKeys) {
    val struct = StructType(Vector(NestedField.optional(0, "k", IntType)))
    val base = start.addColumn(path(), "m", MapType(0, struct, 0, IntType, true))
    Seq[SchemaChanges => SchemaChanges](
      _.updateType(path("m", "key", "k"), LongType),
      _.addColumn(path("m", "key"), "x", IntType),
      _.dropColumn(path("m", "key", "k")),
      _.renameColumn(path("m", "key"), "x"),
      _.makeOptional(path("tags", "key"))
    ).foreach(change => assert(rejection(change(base)).contains("is the key of a map")))
  }

  test("list elements and map values cannot be renamed or dropped") {
    assert(rejection(start.renameColumn(path("points", "element"), "x")).contains("a part of points"))
    assert(rejection(start.dropColumn(path("tags", "value"))).contains("a part of tags"))
  }

  test("names are matched case-insensitively when the session is case-insensitive, and ambiguous names are rejected") {
    val caseInsensitive = SchemaChanges(table, caseSensitive = false)
    assert(names(caseInsensitive.dropColumn(path("AMOUNT"))).forall(_ != "amount"))
    intercept[NotFound](start.dropColumn(path("AMOUNT")))
    val two = table.copy(schemas = Vector(start.addColumn(path(), "ID", IntType).result._1))
    intercept[InvalidArgument](SchemaChanges(two, caseSensitive = false).dropColumn(path("id")))
  }

  test("the update makes the new schema current", EvolutionRules.newSchema) {
    val next = MetadataUpdate.applyAll(table, start.renameColumn(path("ts"), "at").updates, CreatedMs)
    assert(next.currentSchemaId == 1)
    assert(next.schema.names(2) == "at")
    assert(next.schemas.size == 2)
  }

  test("reserved ids and duplicate ids are rejected", EvolutionRules.reservedIds, TypeRules.uniqueIds) {
    def check(ids: Int*): Unit = {
      val fields = ids.zipWithIndex.map { case (id, i) => NestedField.optional(id, s"c$i", IntType) }
      SchemaCheck(Schema(0, fields.toVector), V2)
    }
    assert(intercept[ValidationFailed](check(1, Int.MaxValue - 199)).getMessage.contains("reserved"))
    assert(intercept[ValidationFailed](check(1, 1)).getMessage.contains("the same field id 1"))
    check(1, Int.MaxValue - 200)
  }

  test("a column with a dot in its name is rejected if a nested field has the same full name") {
    def schema(name: String): Schema = {
      val nested = StructType(Vector(NestedField.optional(2, "b", IntType)))
      Schema(0, Vector(NestedField.optional(1, "a", nested), NestedField.optional(3, name, IntType)))
    }
    SchemaCheck(schema("a.c"), V2)
    assert(intercept[InvalidArgument](SchemaCheck(schema("a.b"), V2)).getMessage.contains("full names must be unique"))
  }
}
