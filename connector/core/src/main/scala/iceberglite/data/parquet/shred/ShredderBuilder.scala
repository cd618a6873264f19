package iceberglite.data.parquet.shred

import org.apache.parquet.schema.{GroupType, MessageType, Type => ParquetType}

import iceberglite.data.{FieldPlace, FieldTraversal, RowField, RowSource}
import iceberglite.spec.types.{NestedField, PrimitiveType}

/**
 * Creates the shredder of a file.
 *
 * @param file the schema of the file, which contains the stored fields in the same order
 * @tparam F the description of a field of the rows
 * @tparam V a row, a struct, or the values of a list
 */
abstract private[iceberglite] class ShredderBuilder[F <: RowField[F], V](file: MessageType, rows: RowSource[V])
    extends FieldTraversal[F, ParquetPlace, FieldShredder[V]] {

  /** Returns the shredder of a field of a primitive type. */
  protected def leaf(field: F, column: LeafColumn): LeafShredder[V]

  final def shredder(columns: Vector[F]): Shredder[V] = {
    val written = fields(columns, ParquetPlace(file, Vector.empty, Vector.empty, 0, 0))
    new Shredder(written.map(_._1).toArray, written.map(_._2).toArray)
  }

  final override protected def fieldIn(struct: ParquetPlace, field: NestedField, index: Int): ParquetPlace =
    struct.child(struct.group.getType(index), field)

  final override protected def entryIn(collection: ParquetPlace, field: NestedField, index: Int): ParquetPlace = {
    val entries = collection.entries
    entries.child(entries.group.getType(index), field)
  }

  final override protected def leaf(f: F, t: PrimitiveType, place: ParquetPlace): FieldShredder[V] = {
    val descriptor = file.getColumnDescription(place.path.toArray)
    leaf(f, LeafColumn(descriptor, f.field.id, place.name, place.optional))
  }

  override protected def struct(
      f: F,
      place: ParquetPlace,
      fields: Vector[(FieldShredder[V], Int)]
  ): FieldShredder[V] =
    new StructShredder(place.ofGroup, rows, f.size, fields.map(_._1).toArray, fields.map(_._2).toArray)

  final override protected def list(place: ParquetPlace, element: FieldShredder[V]): FieldShredder[V] =
    new ListShredder(place.ofGroup, rows, place.repetition + 1, element)

  final override protected def map(
      place: ParquetPlace,
      key: FieldShredder[V],
      value: FieldShredder[V]
  ): FieldShredder[V] = new MapShredder(place.ofGroup, rows, place.repetition + 1, key, value)
}

/**
 * The place of a field in a Parquet schema.
 *
 * @param path the names in the file
 * @param definition the definition level at which the field is present
 * @param repetition the number of lists and maps that contain the field
 */
final private[iceberglite] case class ParquetPlace(
    node: ParquetType,
    path: Vector[String],
    override val names: Vector[String],
    definition: Int,
    repetition: Int
) extends FieldPlace {
  def optional: Boolean = node.isRepetition(ParquetType.Repetition.OPTIONAL)

  def group: GroupType = node.asGroupType

  private[shred] def ofGroup: GroupPlace = GroupPlace(name, optional, definition)

  private[shred] def child(part: ParquetType, field: NestedField): ParquetPlace = {
    val place = ParquetPlace(part, path :+ part.getName, names :+ field.name, definition, repetition)
    if (place.optional) place.copy(definition = definition + 1) else place
  }

  /** The repeated entries of a list or map. */
  private[shred] def entries: ParquetPlace = {
    val repeated = group.getType(0)
    ParquetPlace(repeated, path :+ repeated.getName, names, definition + 1, repetition + 1)
  }
}
