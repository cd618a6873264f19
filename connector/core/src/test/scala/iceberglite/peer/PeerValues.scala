package iceberglite.peer

import org.apache.iceberg.types.{Type => PeerType, Types => PeerTypes}

import iceberglite.spec.json.TypeJson
import iceberglite.spec.types.{PrimitiveType, Type}

/** Types as the Java library has them; its values in memory are those of `Literal.plain`. */
object PeerValues {
  def typeOf(t: PrimitiveType): PeerType = PeerTypes.fromTypeName(t.toString)

  /** What this library makes of the name that the Java library gives a type. */
  def named(name: String): Type = TypeJson.parse("peer", "\"" + name + "\"")
}
