package iceberglite.data

/**
 * Returns the nested values of rows.
 *
 * @tparam V a row, a struct, or the values of a list; its values have ordinals
 */
private[iceberglite] trait RowSource[V] {

  /** The elements of a list, or the keys or values of a map. */
  type Entries <: V

  type Pairs

  def isNull(values: V, ordinal: Int): Boolean

  /** Throws the error for a null in a required field. @param name the full name of the field */
  def failNull(name: String): Nothing

  /** @param size the number of fields of the struct in the rows */
  def struct(values: V, ordinal: Int, size: Int): V

  def list(values: V, ordinal: Int): Entries

  def map(values: V, ordinal: Int): Pairs

  def keys(map: Pairs): Entries

  /** Returns the values of a map. */
  def mapped(map: Pairs): Entries

  def count(entries: Entries): Int
}
