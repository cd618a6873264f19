package iceberglite.peer

import org.apache.iceberg.types.{Type => PeerType, Types => PeerTypes}

import iceberglite.spec.json.TypeJson
import iceberglite.spec.types.{PrimitiveType, Type}

/** Converts types to and from those of the Java library; both use the in-memory values of `Literal.javaValue`. */
object PeerValues {
  def typeOf(t: PrimitiveType): PeerType = PeerTypes.fromTypeName(t.toString)

  /** Parses the Java library's name of a type. */
  def named(name: String): Type = TypeJson.parse("peer", "\"" + name + "\"")
}
