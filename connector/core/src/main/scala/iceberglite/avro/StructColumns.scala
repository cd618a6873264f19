package iceberglite.avro

import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V1, V2, V3, V4}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/** Whether the files of a format version contain a field. */
sealed private[iceberglite] trait Presence
private[iceberglite] object Presence {
  case object Required extends Presence
  case object Optional extends Presence

  /**
   * The format version does not define the field, or this connector does not write the field. A field that is absent in
   * every format version is skipped when a file is read.
   */
  case object Absent extends Presence
}

/** The presence of a field in each format version. */
final private[iceberglite] case class Presences(v1: Presence, v2: Presence, v3: Presence) {
  def in(version: FormatVersion): Presence = version match {
    case V1 => v1
    case V2 => v2
    // Version 4 tables keep the manifests of earlier versions. New Avro files have the fields of version 3.
    case V3 | V4 => v3
  }
}

/**
 * One field of a struct that the specification defines, such as `data_file`. The declaration of the column is the only
 * place in the code that defines the id, name, type and presence of the field.
 *
 * @param slot position of the column in the struct and in an [[AvroRow]]
 * @param value returns the value of the field in a struct; `None` for null
 */
final private[iceberglite] class StructColumn[A, V](
    val id: Int,
    val name: String,
    val columnType: ColumnType[V],
    presences: Presences,
    val doc: String,
    val slot: Int,
    value: A => Option[V]
) {
  def presence(version: FormatVersion): Presence = presences.in(version)

  def field(version: FormatVersion): NestedField = NestedField(
    id,
    name,
    columnType.icebergType(version),
    required = presence(version) == Presence.Required,
    doc = Some(doc)
  )

  def write(struct: A, out: AvroOutput, version: FormatVersion): Unit = (value(struct), presence(version)) match {
    case (present, Presence.Optional) =>
      out.writeBranch(present.isDefined)
      present.foreach(columnType.write(_, out, version))
    case (Some(present), _) => columnType.write(present, out, version)
    case (None, _) =>
      throw InvalidArgument(name, "none", s"Format version $version requires a value for this field")
  }
}

/**
 * The fields of a struct that the specification defines, in the order in which they are written. The Avro schema, the
 * writer and the reader are derived from this definition.
 *
 * @param name the name of the struct in the specification
 */
abstract private[iceberglite] class StructColumns[A](val name: String) {
  private var declared = Vector.empty[StructColumn[A, _]]

  /** Declares the next field. */
  protected def column[V](
      id: Int,
      name: String,
      columnType: ColumnType[V],
      v1: Presence,
      v2: Presence,
      v3: Presence,
      doc: String
  )(value: A => Option[V]): StructColumn[A, V] = {
    val declaredColumn = new StructColumn[A, V](id, name, columnType, Presences(v1, v2, v3), doc, declared.size, value)
    declared :+= declaredColumn
    declaredColumn
  }

  /** Declares the next field. @param field the id, name and description of the field */
  protected def column[V](field: NestedField, columnType: ColumnType[V], v1: Presence, v2: Presence, v3: Presence)(
      value: A => Option[V]
  ): StructColumn[A, V] = column(field.id, field.name, columnType, v1, v2, v3, field.doc.mkString)(value)

  def columns: Vector[StructColumn[A, _]] = declared

  lazy val byId: Map[Int, StructColumn[A, _]] = readColumns.map(c => c.id -> c).toMap
  lazy val byName: Map[String, StructColumn[A, _]] = readColumns.map(c => c.name -> c).toMap

  private def readColumns: Vector[StructColumn[A, _]] =
    columns.filterNot(c => FormatVersion.all.forall(c.presence(_) == Presence.Absent))

  /** The columns that every file must have. */
  lazy val requiredColumns: Vector[StructColumn[A, _]] =
    columns.filter(c => c.columnType.isMandatory && FormatVersion.all.forall(c.presence(_) == Presence.Required))

  def struct(version: FormatVersion): StructType = StructType(writtenColumns(version).map(_.field(version)))

  /** Writes the fields of a struct as an Avro record. */
  def write(struct: A, out: AvroOutput, version: FormatVersion): Unit =
    writtenColumns(version).foreach(_.write(struct, out, version))

  private def writtenColumns(version: FormatVersion): Vector[StructColumn[A, _]] = version match {
    case V1 => columnsV1
    case V2 => columnsV2
    case V3 | V4 => columnsV3
  }
  private lazy val columnsV1 = presentIn(V1)
  private lazy val columnsV2 = presentIn(V2)
  private lazy val columnsV3 = presentIn(V3)

  private def presentIn(version: FormatVersion): Vector[StructColumn[A, _]] =
    columns.filter(_.presence(version) != Presence.Absent)
}
