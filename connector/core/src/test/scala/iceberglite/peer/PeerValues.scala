package iceberglite.peer

import org.apache.iceberg.types.{Type => PeerType, Types => PeerTypes}

import iceberglite.spec.json.TypeJson
import iceberglite.spec.types.{PrimitiveType, Type}

/** Types of the Java library; its in-memory values are those of `Literal.plain`. */
object PeerValues {
  def typeOf(t: PrimitiveType): PeerType = PeerTypes.fromTypeName(t.toString)

  /** Parses the Java library's name of a type. */
  def named(name: String): Type = TypeJson.parse("peer", "\"" + name + "\"")
}
