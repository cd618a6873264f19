package iceberglite.data

import scala.annotation.nowarn

import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._

/** The place of a field in a file. */
private[iceberglite] trait FieldPlace {

  /** The names of the column and of the nested fields that lead to the field; empty for a row. */
  def names: Vector[String]

  /** The full name of the field, for messages. */
  def name: String = names.mkString(".")
}

/**
 * Creates the writers of the fields of rows by traversing structs, lists and maps. Each file format implements this
 * class once. The created writers are used for all rows of a file.
 *
 * @tparam F the description of a field of the rows
 * @tparam P the place of a field in a file
 * @tparam W the writer of a field
 */
abstract private[iceberglite] class FieldTraversal[F <: RowField[F], P <: FieldPlace, W] {

  /**
   * Returns the place of a field that a row or a struct contains.
   *
   * @param index the index of the field among the stored fields
   */
  protected def fieldIn(struct: P, field: NestedField, index: Int): P

  /**
   * Returns the place of the element of a list, or of the key or value of a map.
   *
   * @param index 1 for the value of a map, otherwise 0
   */
  protected def entryIn(collection: P, field: NestedField, index: Int): P

  /** Returns the writer of a field of a primitive type. */
  protected def leaf(f: F, t: PrimitiveType, place: P): W

  /** @param fields the writers of the fields of the struct, each with the index of its values in the struct */
  protected def struct(f: F, place: P, fields: Vector[(W, Int)]): W

  protected def list(place: P, element: W): W

  protected def map(place: P, key: W, value: W): W

  /**
   * Returns the writer of a field that the file does not contain, or `None` if the values of the field are ignored,
   * which is the default.
   */
  @nowarn("cat=unused-params") // unused by default
  protected def unstored(f: F, name: String): Option[W] = None

  /**
   * Returns the writer of a field. It accepts the values as they are in the row, which may have another form than
   * `writer` expects. By default, the form is the same, and `writer` is returned.
   *
   * @param name the full name of the field, for messages
   */
  @nowarn("cat=unused-params") // unused by default
  protected def fromSource(f: F, name: String, writer: W): W = writer

  /**
   * Returns the writers of the fields of a row or a struct, each with the index of its values.
   *
   * @param parts the fields of the row or struct. The file contains those of them that are stored, in the same order
   */
  final protected def fields(parts: Vector[F], place: P): Vector[(W, Int)] = {
    val indexes = parts.scanLeft(0)((index, f) => if (f.isStored) index + 1 else index)
    parts.zip(indexes).flatMap { case (f, index) =>
      val writer =
        if (f.isStored) Some(stored(f, fieldIn(place, f.field, index)))
        else unstored(f, (place.names :+ f.field.name).mkString("."))
      writer.map(_ -> f.ordinal)
    }
  }

  private def stored(f: F, place: P): W = {
    def entry(index: Int): W = stored(f.parts(index), entryIn(place, f.parts(index).field, index))
    val writer = f.field.fieldType match {
      case _: ListType => list(place, entry(0))
      case _: MapType => map(place, entry(0), entry(1))
      case _: StructType | VariantType => struct(f, place, fields(f.parts, place))
      case t: PrimitiveType => leaf(f, t, place)
    }
    fromSource(f, place.name, writer)
  }
}
