package iceberglite.spec.schema

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * The columns of a table (spec: "Schemas and Data Types").
 *
 * The full name of a nested field consists of the names of the enclosing fields and its own name, with dots between
 * them: `location.lat`, `points.element.x`, `tags.value`. A column name may also contain dots. Therefore a full name is
 * not split at its dots when a field is looked up.
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

  /**
   * The path of each field, by id. A path consists of the names of the enclosing fields, the outermost first, and the
   * name of the field.
   */
  lazy val paths: Map[Int, Vector[String]] = {
    def pathsIn(t: Type, prefix: Vector[String]): Vector[(Int, Vector[String])] = t match {
      case nested: NestedType =>
        nested.fields.flatMap(f => (f.id -> (prefix :+ f.name)) +: pathsIn(f.fieldType, prefix :+ f.name))
      case _: PrimitiveType => Vector.empty
    }
    pathsIn(asStruct, Vector.empty).toMap
  }

  /** The id of the directly enclosing field of each nested field, by the id of the nested field. */
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

  /** Returns a field by its full name. @throws InvalidArgument if case is ignored and several fields match */
  def find(fullName: String, caseSensitive: Boolean = true): Option[NestedField] =
    if (caseSensitive) ids.get(fullName).map(byId)
    else {
      val matches = ids.keys.filter(_.equalsIgnoreCase(fullName)).toVector
      if (matches.size > 1) {
        throw InvalidArgument(
          "column name",
          fullName,
          Schema.ambiguous(matches.sorted.mkString(" and "))
        )
      }
      matches.headOption.map(n => byId(ids(n)))
    }

  /** Returns a field by its full name. @throws NotFound if there is no such field; the message lists the columns */
  def require(fullName: String, caseSensitive: Boolean = true): NestedField =
    find(fullName, caseSensitive).getOrElse(
      throw NotFound(ObjectKind.Column, fullName, s"The columns are ${fields.map(_.name).mkString(", ")}")
    )

  /** Whether two schemas have the same columns and the same identifier fields, regardless of the schema ids. */
  def sameColumns(that: Schema): Boolean =
    fields == that.fields && identifierFieldIds == that.identifierFieldIds

  override def toString: String = fields.mkString(s"schema $schemaId {", ", ", "}")
}

object Schema {
  val Empty: Schema = Schema(0, Vector.empty)

  /** The highest field id of a column. Higher ids are reserved for metadata columns (spec: "Reserved Field IDs"). */
  val MaxFieldId: Int = Int.MaxValue - 200

  /** Returns the text of the error for a name that matches several columns if case is ignored. */
  private[schema] def ambiguous(columns: String): String =
    s"It is ambiguous: if case is ignored, it matches $columns. Set spark.sql.caseSensitive to true, or rename a column"

  /** Returns the fields at every depth of a type. An enclosing field comes before its nested fields. */
  def fieldsOf(t: Type): Vector[NestedField] = t match {
    case nested: NestedType => nested.fields.flatMap(f => f +: fieldsOf(f.fieldType))
    case _: PrimitiveType => Vector.empty
  }

  /**
   * Assigns new ids to all fields, breadth-first within each struct. Apache Iceberg numbers the columns of new tables
   * in the same order.
   */
  def withFreshIds(fields: Vector[NestedField], nextId: () => Int): Vector[NestedField] = {
    val numbered = fields.map(_.copy(id = nextId()))
    numbered.map(f => f.copy(fieldType = freshIds(f.fieldType, nextId)))
  }

  /** Assigns new ids to the fields at every depth of a type. */
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

/**
 * Metadata columns, whose values describe files and commits, and are not part of the user's data (spec: "Reserved Field
 * IDs").
 */
object MetadataColumns {
  val FilePath: NestedField = NestedField.required(Int.MaxValue - 1, "_file", StringType, "Path of the row's file")
  val Position: NestedField = NestedField.required(Int.MaxValue - 2, "_pos", LongType, "Ordinal of the row in its file")
  val Deleted: NestedField =
    NestedField.required(Int.MaxValue - 3, "_deleted", BooleanType, "Whether the row is deleted")
  val SpecId: NestedField =
    NestedField.required(Int.MaxValue - 4, "_spec_id", IntType, "Id of the partition spec of the row's file")

  /** The id of the column `_partition`, whose type depends on the table's partition specs. */
  val PartitionId: Int = Int.MaxValue - 5
  val PartitionName: String = "_partition"

  /** The column of position delete files that contains the path of the data file (spec: "Position Delete Files"). */
  val DeleteFilePath: NestedField = NestedField.required(
    Int.MaxValue - 101,
    "file_path",
    StringType,
    "Path of the file that a row is deleted from"
  )

  /** The column of position delete files that contains the position of the deleted row. */
  val DeletePosition: NestedField =
    NestedField.required(Int.MaxValue - 102, "pos", LongType, "Ordinal of the deleted row in its file")

  /** The column of changelogs that contains the value `INSERT` or `DELETE`. */
  val ChangeType: NestedField =
    NestedField.required(Int.MaxValue - 104, "_change_type", StringType, "What happened to the row: INSERT or DELETE")

  /**
   * The column of changelogs that contains the position of the commit among the commits that are read, starting at 0.
   * It is never null, but optional as in Apache Iceberg, as is the snapshot id.
   */
  val ChangeOrdinal: NestedField =
    NestedField.optional(Int.MaxValue - 105, "_change_ordinal", IntType, "Ordinal of the commit that changed the row")

  /** The column of changelogs that contains the snapshot id of the commit. */
  val CommitSnapshotId: NestedField =
    NestedField.optional(Int.MaxValue - 106, "_commit_snapshot_id", LongType, "Snapshot that changed the row")
  val RowId: NestedField = NestedField.optional(Int.MaxValue - 107, "_row_id", LongType, "Id of the row (version 3)")
  val LastUpdatedSequenceNumber: NestedField = NestedField.optional(
    Int.MaxValue - 108,
    "_last_updated_sequence_number",
    LongType,
    "Sequence number of the commit that last changed the row (version 3)"
  )

  /** The names of the metadata columns that a query of a table can select. */
  val namesOfRows: Vector[String] =
    Vector(SpecId.name, PartitionName) ++ Vector(FilePath, Position, Deleted, RowId, LastUpdatedSequenceNumber).map(
      _.name
    )
}
