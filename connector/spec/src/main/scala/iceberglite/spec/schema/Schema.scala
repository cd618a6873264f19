package iceberglite.spec.schema

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * The columns of a table (spec: "Schemas and Data Types").
 *
 * Names of nested fields are paths with dots: `location.lat`, `points.element.x`, `tags.value`. A column name may
 * itself contain dots; the lookup uses the whole name.
 *
 * @param identifierFieldIds the fields that identify a row (spec: "Identifier Field IDs")
 */
final case class Schema(schemaId: Int, fields: Vector[NestedField], identifierFieldIds: Set[Int] = Set.empty) {

  def asStruct: StructType = StructType(fields)

  /** All fields at every depth, by id. */
  lazy val byId: Map[Int, NestedField] = Schema.fieldsOf(asStruct).map(f => f.id -> f).toMap

  /** The full name of each field, by id. */
  lazy val names: Map[Int, String] = paths.map { case (id, parts) => id -> parts.mkString(".") }

  /** The id of each field, by full name. */
  lazy val ids: Map[String, Int] = names.map(_.swap)

  /** The name of each field as parts, from the top, by id. */
  lazy val paths: Map[Int, Vector[String]] = {
    def walk(t: Type, prefix: Vector[String]): Vector[(Int, Vector[String])] = t match {
      case nested: NestedType =>
        nested.fields.flatMap(f => (f.id -> (prefix :+ f.name)) +: walk(f.fieldType, prefix :+ f.name))
      case _: PrimitiveType => Vector.empty
    }
    walk(asStruct, Vector.empty).toMap
  }

  /** The id of the enclosing field of a field, by id; top-level fields are absent. */
  lazy val parents: Map[Int, Int] = byId.values.flatMap { f =>
    f.fieldType match {
      case nested: NestedType => nested.fields.map(_.id -> f.id)
      case _: PrimitiveType => Vector.empty
    }
  }.toMap

  /** Returns the enclosing fields of a field, the nearest first. */
  def ancestors(id: Int): Vector[NestedField] =
    Iterator.iterate(parents.get(id))(_.flatMap(parents.get)).takeWhile(_.isDefined).flatten.map(byId).toVector

  def highestFieldId: Int = if (byId.isEmpty) 0 else byId.keys.max

  def find(fullName: String, caseSensitive: Boolean = true): Option[NestedField] =
    if (caseSensitive) ids.get(fullName).map(byId)
    else {
      val matches = ids.keys.filter(_.equalsIgnoreCase(fullName)).toVector
      if (matches.size > 1) {
        throw InvalidArgument(
          "column",
          fullName,
          s"It matches ${matches.sorted.mkString(" and ")} when case is ignored"
        )
      }
      matches.headOption.map(n => byId(ids(n)))
    }

  /** Returns a field by its full name. @throws NotFound with a list of the columns */
  def require(fullName: String, caseSensitive: Boolean = true): NestedField =
    find(fullName, caseSensitive).getOrElse(
      throw NotFound(ObjectKind.Column, fullName, s"The columns are ${fields.map(_.name).mkString(", ")}")
    )

  /** Whether the columns are the same, regardless of the id of the schema. */
  def sameColumns(that: Schema): Boolean =
    fields == that.fields && identifierFieldIds == that.identifierFieldIds

  override def toString: String = fields.mkString(s"schema $schemaId {", ", ", "}")
}

object Schema {
  val Empty: Schema = Schema(0, Vector.empty)

  /** Ids above this are metadata columns (spec: "Reserved Field IDs"). */
  val MaxFieldId: Int = Int.MaxValue - 200

  /** All fields below a type, parents before children. */
  def fieldsOf(t: Type): Vector[NestedField] = t match {
    case nested: NestedType => nested.fields.flatMap(f => f +: fieldsOf(f.fieldType))
    case _: PrimitiveType => Vector.empty
  }

  /** Assigns new ids to all fields, breadth-first within each struct, as Apache Iceberg numbers new tables. */
  def withFreshIds(fields: Vector[NestedField], nextId: () => Int): Vector[NestedField] = {
    val numbered = fields.map(_.copy(id = nextId()))
    numbered.map(f => f.copy(fieldType = freshIds(f.fieldType, nextId)))
  }

  /** Assigns new ids to the parts of one type. */
  def freshIds(t: Type, nextId: () => Int): Type = t match {
    case StructType(fields) => StructType(withFreshIds(fields, nextId))
    case ListType(_, element, required) =>
      val id = nextId()
      ListType(id, freshIds(element, nextId), required)
    case MapType(_, key, _, value, required) =>
      val (keyId, valueId) = (nextId(), nextId())
      MapType(keyId, freshIds(key, nextId), valueId, freshIds(value, nextId), required)
    case primitive: PrimitiveType => primitive
  }
}

/** Columns whose values come from a file or a commit rather than a user (spec: "Reserved Field IDs"). */
object MetadataColumns {
  val FilePath: NestedField = NestedField.required(Int.MaxValue - 1, "_file", StringType, "Path of the row's file")
  val Position: NestedField = NestedField.required(Int.MaxValue - 2, "_pos", LongType, "Ordinal of the row in its file")
  val Deleted: NestedField =
    NestedField.required(Int.MaxValue - 3, "_deleted", BooleanType, "Whether the row is deleted")
  val SpecId: NestedField =
    NestedField.required(Int.MaxValue - 4, "_spec_id", IntType, "Partition spec of the row's file")

  /** The id and name of `_partition`, whose type depends on the table's specs. */
  val PartitionId: Int = Int.MaxValue - 5
  val PartitionName: String = "_partition"

  /** In position delete files (spec: "Position Delete Files"): the path of the data file. */
  val DeleteFilePath: NestedField = NestedField.required(
    Int.MaxValue - 101,
    "file_path",
    StringType,
    "Path of the file that a row is deleted from"
  )

  /** In position delete files: the position of the row. */
  val DeletePosition: NestedField =
    NestedField.required(Int.MaxValue - 102, "pos", LongType, "Ordinal of the deleted row in its file")

  /** In position delete files: the field id of the column `row`, a struct with the columns of the deleted row. */
  val DeleteRowId: Int = Int.MaxValue - 103

  /** In changelogs: `INSERT` or `DELETE`. */
  val ChangeType: NestedField =
    NestedField.required(Int.MaxValue - 104, "_change_type", StringType, "What happened to the row: INSERT or DELETE")

  /** In changelogs: the position of the commit among the commits that are read, starting with 0. */
  val ChangeOrdinal: NestedField =
    NestedField.required(Int.MaxValue - 105, "_change_ordinal", IntType, "Ordinal of the commit that changed the row")

  /** In changelogs: the snapshot of the commit. */
  val CommitSnapshotId: NestedField =
    NestedField.required(Int.MaxValue - 106, "_commit_snapshot_id", LongType, "Snapshot that changed the row")
  val RowId: NestedField = NestedField.optional(Int.MaxValue - 107, "_row_id", LongType, "Id of the row (version 3)")
  val LastUpdatedSequenceNumber: NestedField = NestedField.optional(
    Int.MaxValue - 108,
    "_last_updated_sequence_number",
    LongType,
    "Sequence number of the commit that last changed the row (version 3)"
  )
}
