package iceberglite.spec

import scala.collection.immutable

/** A base of maps that are optimized for construction and lookup. An update returns a standard map. */
abstract private[iceberglite] class ReadMostlyMap[K, +V] extends immutable.AbstractMap[K, V] with Serializable {

  /** Returns a standard map with the same entries. */
  protected def toStandardMap: Map[K, V] = iterator.toMap

  final override def +[B >: V](entry: (K, B)): Map[K, B] = toStandardMap + entry

  final override def -(key: K): Map[K, V] = toStandardMap - key
}
