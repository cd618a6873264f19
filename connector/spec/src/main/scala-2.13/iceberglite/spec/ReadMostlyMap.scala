package iceberglite.spec

import scala.collection.immutable

/** A base of maps that are optimized for construction and lookup. An update returns a standard map. */
abstract private[iceberglite] class ReadMostlyMap[K, +V] extends immutable.AbstractMap[K, V] with Serializable {

  /** Returns a standard map with the same entries. */
  protected def toStandardMap: Map[K, V] = iterator.toMap

  final override def updated[B >: V](key: K, value: B): Map[K, B] = toStandardMap.updated(key, value)

  final override def removed(key: K): Map[K, V] = toStandardMap.removed(key)
}
