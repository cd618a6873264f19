package iceberglite.data

/**
 * The ids of the primitive types of variants (Parquet specification: "Variant Binary Encoding", section "Encoding
 * types").
 */
private[data] object VariantPrimitive {
  final val Null = 0
  final val True = 1
  final val False = 2
  final val Int8 = 3
  final val Int16 = 4
  final val Int32 = 5
  final val Int64 = 6
  final val Double = 7
  final val Decimal4 = 8
  final val Decimal8 = 9
  final val Decimal16 = 10
  final val Date = 11
  final val Timestamp = 12
  final val TimestampNtz = 13
  final val Float = 14
  final val Binary = 15
  final val String = 16
  final val TimeNtz = 17
  final val TimestampNanos = 18
  final val TimestampNtzNanos = 19
  final val Uuid = 20
}
