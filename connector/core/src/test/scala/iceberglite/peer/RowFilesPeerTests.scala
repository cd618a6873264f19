package iceberglite.peer

import java.nio.ByteBuffer
import java.util.UUID

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.{Metrics => PeerMetrics, MetricsConfig}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.FormatRules
import iceberglite.data._
import iceberglite.metrics.MetricsModes
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.schema.{MappedField, NameMapping, Schema}
import iceberglite.spec.types.{NestedField, PrimitiveType, SingleValue, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}

/** Row files compared with those of the Java library, in both directions. */
abstract class RowFilesPeerTests(format: DataFormat)
    extends AnyFunSuite
    with ScalaCheckPropertyChecks
    with TemporaryDirectory {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 40)

  protected val io = new HadoopFileIO(new Configuration(false))

  protected def newPath(): String = s"$directory/${UUID.randomUUID}.${format.format.name}"

  /** Writes a file with the Java library. @return a function that gives its metrics */
  protected def writeWithPeer(path: String, schema: Schema, rows: Seq[Record], config: MetricsConfig): () => PeerMetrics

  protected def readWithPeer(path: String, schema: Schema, mapping: Option[NameMapping] = None): Vector[Record]

  protected def write(schema: Schema, rows: Seq[Record], mode: MetricsMode = MetricsMode.Full): WrittenFile = {
    val modes = MetricsModes(schema.byId.map { case (id, _) => id -> mode })
    val writer = format.write(DataTarget(io, newPath(), schema, Map.empty, modes))
    rows.foreach(writer.write)
    writer.close()
  }

  protected def read(path: String, schema: Schema, mapping: Option[NameMapping] = None): Vector[Record] = {
    val rows = format.read(DataSource(io, path, 0, mapping), schema.asStruct)
    try rows.toVector
    finally rows.close()
  }

  protected def comparable(rows: Seq[Record], schema: Schema): Vector[Any] =
    rows.map(PeerRecords.comparable(_, schema.asStruct)).toVector

  /** Whether Apache Iceberg can read a column that is missing in a struct. */
  protected def peerReadsDefaults: Boolean

  /** The types that Apache Iceberg supports in this format. */
  protected def types: Vector[PrimitiveType]

  /** Returns the value without the parts that the format cannot store. */
  protected def storedValue(value: AnyRef, @nowarn("cat=unused") t: Type): AnyRef = value // For subclasses to use.

  protected def cases: Gen[(Schema, Vector[Record])] = for {
    schema <- RecordGenerators.schema(types)
    rows <- RecordGenerators.records(schema)
  } yield (schema, rows.map(storedValue(_, schema.asStruct).asInstanceOf[Record]))

  test("Apache Iceberg reads the same rows from our files", FormatRules.valuesKept) {
    forAll(cases) { case (schema, rows) =>
      val file = write(schema, rows)
      assert(comparable(readWithPeer(file.path, schema), schema) == comparable(rows, schema))
    }
  }

  test("both read the same variants, also in structs", FormatRules.variants) {
    val inner = StructType(Vector(optional(3, "w", VariantType), optional(4, "i", IntType)))
    val schema = Schema(0, Vector(required(1, "v", VariantType), optional(2, "s", inner)))
    forAll(RecordGenerators.records(schema)) { rows =>
      assert(comparable(readWithPeer(write(schema, rows).path, schema), schema) == comparable(rows, schema))
      val path = newPath()
      writeWithPeer(path, schema, rows, MetricsConfig.getDefault)
      assert(comparable(read(path, schema), schema) == comparable(rows, schema))
    }
  }

  test("we read the same rows from Apache Iceberg's files", FormatRules.valuesKept) {
    forAll(cases) { case (schema, rows) =>
      val path = newPath()
      writeWithPeer(path, schema, rows, MetricsConfig.getDefault)
      assert(comparable(read(path, schema), schema) == comparable(rows, schema))
    }
  }

  test("after schema changes both read the same rows from each other's files", FormatRules.byId, FormatRules.missing) {
    val evolving = for {
      c <- cases
      wanted <- RecordGenerators.evolved(c._1, peerReadsDefaults)
    } yield (c._1, c._2, wanted)
    forAll(evolving) { case (schema, rows, wanted) =>
      val datesPromoted = schema.byId.exists { case (id, f) =>
        f.fieldType == DateType && wanted.byId.get(id).exists(_.fieldType == TimestampType)
      }
      val path = newPath()
      writeWithPeer(path, schema, rows, MetricsConfig.getDefault)
      val expected = rows.map(RecordGenerators.projected(_, schema.asStruct, wanted.asStruct).asInstanceOf[Record])
      assert(comparable(read(path, wanted), wanted) == comparable(expected, wanted))
      // Apache Iceberg does not yet read dates as timestamps.
      if (!datesPromoted) {
        val ours = write(schema, rows)
        assert(comparable(readWithPeer(ours.path, wanted), wanted) == comparable(expected, wanted))
      }
    }
  }

  /** Writes a file without field ids. */
  protected def writeWithoutIds(path: String, schema: Schema, rows: Seq[Record]): Unit

  private def isPlain(schema: Schema): Boolean = schema.byId.values.forall(_.name.matches("[A-Za-z][A-Za-z0-9_]*"))

  /** Generates a mapping with some of the names, each with an alias that no file has. */
  private def mappingOf(fields: Vector[MappedField]): Gen[Vector[MappedField]] =
    Gen.sequence[Vector[Option[MappedField]], Option[MappedField]](fields.map { f =>
      mappingOf(f.fields).flatMap { inside =>
        val part = Set("element", "key", "value").exists(f.names.contains)
        Gen.oneOf(true, true, true, part).map(kept =>
          if (kept) Some(f.copy(s"former_${f.id.get}" +: f.names, f.id, inside)) else None
        )
      }
    }).map(_.flatten)

  test(
    "a file without ids is read as in Apache Iceberg, with and without a name mapping",
    FormatRules.nameMapping
  ) {
    val imported = for {
      schema <- RecordGenerators.schema(types.filter(_ != UnknownType)).suchThat(isPlain)
      rows <- RecordGenerators.records(schema)
      mapping <- mappingOf(NameMapping.of(schema).fields)
      chosen <- Gen.oneOf(None, Some(NameMapping(mapping)))
    } yield (schema, rows.map(storedValue(_, schema.asStruct).asInstanceOf[Record]), chosen)
    forAll(imported) { case (schema, rows, mapping) =>
      val path = newPath()
      writeWithoutIds(path, schema, rows)
      val wanted = allOptional(schema)
      val ours = comparable(read(path, wanted, mapping), wanted)
      assert(ours == comparable(readWithPeer(path, wanted, mapping), wanted))
      if (mapping.isEmpty) assert(ours == comparable(rows, schema))
    }
  }

  private def allOptional(schema: Schema): Schema = {
    def of(t: Type): Type = t match {
      case s: StructType => StructType(s.fields.map(f => f.copy(fieldType = of(f.fieldType), required = false)))
      case l: ListType => l.copy(element = of(l.element), elementRequired = false)
      case m: MapType => m.copy(value = of(m.value), valueRequired = false)
      case other => other
    }
    Schema(0, schema.fields.map(f => f.copy(fieldType = of(f.fieldType), required = false)))
  }

  /** Returns the leaves with one value per row. @param counted whether fields of a struct are included */
  protected def columns(schema: Schema, counted: NestedField => Boolean): Set[Int] = {
    def leaves(t: Type): Vector[Int] = t match {
      case s: StructType => s.fields.flatMap {
          case NestedField(id, _, p: PrimitiveType, _, _, _, _) if (p: Type) != UnknownType => Vector(id)
          case f => if (counted(f)) leaves(f.fieldType) else Vector.empty
        }
      case _ => Vector.empty
    }
    leaves(schema.asStruct).toSet
  }

  protected def counts(map: java.util.Map[Integer, java.lang.Long], ids: Set[Int]): Map[Int, Long] =
    Option(map).fold(Map.empty[Int, Long])(
      _.asScala.collect { case (k, v) if ids(k) => k.intValue -> v.longValue }.toMap
    )

  protected def values(map: Option[Map[Int, ByteBuffer]], schema: Schema): Map[Int, Any] =
    map.getOrElse(Map.empty).map { case (id, bytes) =>
      val literal = SingleValue.decode(schema.byId(id).fieldType.asInstanceOf[PrimitiveType], bytes)
      id -> RecordGenerators.comparable(RecordValues.primitive(literal, literal.dataType))
    }

  protected def peerBounds(map: java.util.Map[Integer, ByteBuffer], schema: Schema, ids: Set[Int]): Map[Int, Any] =
    values(Option(map).map(_.asScala.collect { case (k, v) if ids(k) => k.intValue -> v }.toMap), schema)
}
