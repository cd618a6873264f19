package iceberglite.spec.partition

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.{DateTime, Literal, Murmur3, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** The hash of the value modulo a number of buckets (spec: "Bucket Transform Details"). */
final case class Bucket(buckets: Int) extends Transform {
  override val name: String = s"bucket[$buckets]"

  override def canTransform(source: Type): Boolean = source match {
    case IntType | LongType | _: DecimalType | DateType | TimeType | TimestampType | TimestampTzType | TimestampNsType |
        TimestampTzNsType | StringType | UuidType | _: FixedType | BinaryType =>
      true
    case _ => false
  }

  override def resultType(source: PrimitiveType): PrimitiveType = IntType

  /** Returns the bucket for a [[Murmur3]] hash. Writers call this method for each row. */
  def ofHash(hash: Int): Int = (hash & Int.MaxValue) % buckets

  override def apply(value: Literal): Option[Literal] = Some(bucketOf(value))

  override def preservesOrder: Boolean = false

  override def project(target: NestedField, predicate: Predicate): Option[Expression] = {
    val field = Term.Bound(target, target.name)
    predicate match {
      case IsNull(_) => Some(IsNull(field))
      case NotNull(_) => Some(NotNull(field))
      case Equal(_, v) => Some(Equal(field, bucketOf(v)))
      case In(_, vs) => Some(In(field, vs.map(bucketOf)))
      case _ => None
    }
  }

  /**
   * Returns a projection only for null tests, `<>` and NOT IN. Other predicates have no strict projection, because two
   * values in the same bucket need not be equal.
   */
  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] = {
    val field = Term.Bound(target, target.name)
    predicate match {
      case IsNull(_) => Some(IsNull(field))
      case NotNull(_) => Some(NotNull(field))
      case NotEqual(_, v) => Some(NotEqual(field, bucketOf(v)))
      case NotIn(_, vs) => Some(NotIn(field, vs.map(bucketOf)))
      case _ => None
    }
  }

  override def toHuman(value: Literal): String = Identity.toHuman(value)

  override def defaultFieldName(source: String): String = s"${source}_bucket"

  private def bucketOf(value: Literal): Literal = IntLiteral(ofHash(Bucket.hash(value)))
}

object Bucket extends TransformFamily {
  override val name = "bucket"

  override def parse(json: String): Option[Transform] = Transforms.parseParameter(name, json).map(Bucket(_))

  /**
   * Hashes a value of a type that the bucket transform supports (spec: "Appendix B"). Nanoseconds are converted to
   * microseconds first.
   */
  private def hash(value: Literal): Int = value match {
    case IntLiteral(v) => Murmur3.hashInt(v)
    case LongLiteral(v) => Murmur3.hashLong(v)
    case DecimalLiteral(v) => Murmur3.hashDecimal(v.unscaledValue)
    case DateLiteral(days) => Murmur3.hashInt(days)
    case TimeLiteral(micros) => Murmur3.hashLong(micros)
    case TimestampLiteral(micros) => Murmur3.hashLong(micros)
    case TimestampTzLiteral(micros) => Murmur3.hashLong(micros)
    case TimestampNsLiteral(nanos) => Murmur3.hashLong(DateTime.microsFromNanos(nanos))
    case TimestampTzNsLiteral(nanos) => Murmur3.hashLong(DateTime.microsFromNanos(nanos))
    case StringLiteral(text) => hashAll(text.getBytes(UTF_8))
    case UuidLiteral(uuid) => hashUuid(uuid)
    case FixedLiteral(bytes) => Murmur3.hashBytes(bytes)
    case BinaryLiteral(bytes) => Murmur3.hashBytes(bytes)
    case _: BooleanLiteral | _: FloatLiteral | _: DoubleLiteral =>
      throw InvalidArgument("bucket source", value.toString, s"Columns of type ${value.dataType} cannot be bucketed")
  }

  private def hashUuid(uuid: UUID): Int = {
    val bytes = ByteBuffer.allocate(16)
    bytes.putLong(uuid.getMostSignificantBits).putLong(uuid.getLeastSignificantBits)
    hashAll(bytes.array)
  }

  private def hashAll(bytes: Array[Byte]): Int = Murmur3.hashBytes(bytes, 0, bytes.length)
}
