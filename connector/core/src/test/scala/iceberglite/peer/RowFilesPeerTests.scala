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

/** Compares how iceberg-lite and Apache Iceberg read and write files of one format. Each format has a subclass. */
abstract class RowFilesPeerTests(format: DataFormat)
    extends AnyFunSuite
    with ScalaCheckPropertyChecks
    with TemporaryDirectory {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 40)

  protected val io = new HadoopFileIO(new Configuration(false))

  protected def newPath(): String = s"$directory/${UUID.randomUUID}.${format.format.name}"

  /** Writes a file with Apache Iceberg. @return a function that returns the file's metrics from Apache Iceberg */
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

  /** Whether Apache Iceberg's reader of this format returns the initial default for a field that a file lacks. */
  protected def peerReadsDefaults: Boolean

  /** The primitive types that Apache Iceberg supports in this format. */
  protected def types: Vector[PrimitiveType]

  /** Returns the value without the parts that the format cannot store. Subclasses override this method if necessary. */
  protected def storedValue(value: AnyRef, @nowarn("cat=unused") t: Type): AnyRef = value

  protected def cases: Gen[(Schema, Vector[Record])] = for {
    schema <- RecordGenerators.schema(types)
    rows <- RecordGenerators.records(schema)
  } yield (schema, rows.map(storedValue(_, schema.asStruct).asInstanceOf[Record]))

  test("Apache Iceberg reads the rows that this library writes", FormatRules.valuesKept) {
    forAll(cases) { case (schema, rows) =>
      val file = write(schema, rows)
      assert(comparable(readWithPeer(file.path, schema), schema) == comparable(rows, schema))
    }
  }

  test(
    "each library reads the variants that the other library writes, including variants in structs",
    FormatRules.variants
  ) {
    val inner = StructType(Vector(optional(3, "w", VariantType), optional(4, "i", IntType)))
    val schema = Schema(0, Vector(required(1, "v", VariantType), optional(2, "s", inner)))
    forAll(RecordGenerators.records(schema)) { rows =>
      assert(comparable(readWithPeer(write(schema, rows).path, schema), schema) == comparable(rows, schema))
      val path = newPath()
      writeWithPeer(path, schema, rows, MetricsConfig.getDefault)
      assert(comparable(read(path, schema), schema) == comparable(rows, schema))
    }
  }

  test("this library reads the rows that Apache Iceberg writes", FormatRules.valuesKept) {
    forAll(cases) { case (schema, rows) =>
      val path = newPath()
      writeWithPeer(path, schema, rows, MetricsConfig.getDefault)
      assert(comparable(read(path, schema), schema) == comparable(rows, schema))
    }
  }

  test(
    "both libraries read each other's files with the same result after random schema changes",
    FormatRules.byId,
    FormatRules.missing
  ) {
    val evolving = for {
      c <- cases
      projection <- RecordGenerators.evolved(c._1, peerReadsDefaults)
    } yield (c._1, c._2, projection)
    forAll(evolving) { case (schema, rows, projection) =>
      val datesPromoted = schema.byId.exists { case (id, f) =>
        f.fieldType == DateType && projection.byId.get(id).exists(_.fieldType == TimestampType)
      }
      val path = newPath()
      writeWithPeer(path, schema, rows, MetricsConfig.getDefault)
      val expected = rows.map(RecordGenerators.projected(_, schema.asStruct, projection.asStruct).asInstanceOf[Record])
      assert(comparable(read(path, projection), projection) == comparable(expected, projection))
      // Apache Iceberg does not yet read dates as timestamps.
      if (!datesPromoted) {
        val ours = write(schema, rows)
        assert(comparable(readWithPeer(ours.path, projection), projection) == comparable(expected, projection))
      }
    }
  }

  /** Writes a file without field ids, as programs that do not know Iceberg do. */
  protected def writeWithoutIds(path: String, schema: Schema, rows: Seq[Record]): Unit

  private def hasSimpleNames(schema: Schema): Boolean =
    schema.byId.values.forall(_.name.matches("[A-Za-z][A-Za-z0-9_]*"))

  /** Generates a name mapping with a random part of the fields. Each field gets an additional name that no file has. */
  private def mappingOf(fields: Vector[MappedField]): Gen[Vector[MappedField]] =
    Gen.sequence[Vector[Option[MappedField]], Option[MappedField]](fields.map { f =>
      mappingOf(f.fields).flatMap { inside =>
        // List elements, map keys and map values are always mapped.
        val isNestedPart = Set("element", "key", "value").exists(f.names.contains)
        Gen.oneOf(true, true, true, isNestedPart).map(kept =>
          if (kept) Some(f.copy(s"former_${f.id.get}" +: f.names, f.id, inside)) else None
        )
      }
    }).map(_.flatten)

  test(
    "a file without ids is read as in Apache Iceberg, with and without a name mapping",
    FormatRules.nameMapping
  ) {
    val imported = for {
      schema <- RecordGenerators.schema(types.filter(_ != UnknownType)).suchThat(hasSimpleNames)
      rows <- RecordGenerators.records(schema)
      mapping <- mappingOf(NameMapping.of(schema).fields)
      chosen <- Gen.oneOf(None, Some(NameMapping(mapping)))
    } yield (schema, rows.map(storedValue(_, schema.asStruct).asInstanceOf[Record]), chosen)
    forAll(imported) { case (schema, rows, mapping) =>
      val path = newPath()
      writeWithoutIds(path, schema, rows)
      val projection = allOptional(schema)
      val ours = comparable(read(path, projection, mapping), projection)
      assert(ours == comparable(readWithPeer(path, projection, mapping), projection))
      if (mapping.isEmpty) assert(ours == comparable(rows, schema))
    }
  }

  private def allOptional(schema: Schema): Schema = {
    def optionalType(t: Type): Type = t match {
      case s: StructType =>
        StructType(s.fields.map(f => f.copy(fieldType = optionalType(f.fieldType), required = false)))
      case l: ListType => l.copy(element = optionalType(l.element), elementRequired = false)
      case m: MapType => m.copy(value = optionalType(m.value), valueRequired = false)
      case other => other
    }
    Schema(0, schema.fields.map(f => f.copy(fieldType = optionalType(f.fieldType), required = false)))
  }

  /**
   * Returns the ids of primitive fields outside of lists and maps, except fields of type `unknown`.
   *
   * @param counted returns whether to include the fields of a struct
   */
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
