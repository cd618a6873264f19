package iceberglite.peer

import org.apache.iceberg.types.{Type => PeerType, Types => PeerTypes}

import iceberglite.spec.json.TypeJson
import iceberglite.spec.types.{PrimitiveType, Type}

/** Converts types to and from the types of Apache Iceberg. `Literal.javaValue` returns values for the latter types. */
object PeerValues {
  def typeOf(t: PrimitiveType): PeerType = PeerTypes.fromTypeName(t.toString)

  /** Parses the name of a type as Apache Iceberg writes it, for example `decimal(9, 2)`. */
  def parseType(name: String): Type = TypeJson.parse("peer", "\"" + name + "\"")
}
