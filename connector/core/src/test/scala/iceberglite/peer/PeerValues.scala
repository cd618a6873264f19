package iceberglite.peer

import org.apache.iceberg.types.{Type => PeerType, Types => PeerTypes}

import iceberglite.spec.json.TypeJson
import iceberglite.spec.types.{PrimitiveType, Type}

/** Converts types to and from the types of Apache Iceberg, whose values are those of `Literal.javaValue`. */
object PeerValues {
  def typeOf(t: PrimitiveType): PeerType = PeerTypes.fromTypeName(t.toString)

  /** Parses the text with which Apache Iceberg represents a type. */
  def parseType(name: String): Type = TypeJson.parse("peer", "\"" + name + "\"")
}
