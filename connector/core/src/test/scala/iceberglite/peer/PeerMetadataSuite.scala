package iceberglite.peer

import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.iceberg.TableMetadataParser
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.TestMetadata._
import iceberglite.spec.json.{MetadataGenerators, TableMetadataJson}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{SortOrder, Transform}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DefaultValue, Literal, NestedField, NestedType, Type}
import iceberglite.spec.types.Type._

/** Tests that iceberg-lite and Apache Iceberg read each other's table metadata without changing it. */
class PeerMetadataSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 150)

  private val tables: Gen[TableMetadata] = MetadataGenerators.table.map(PeerMetadataSuite.commonMetadata)
  private val json = new ObjectMapper

  private def write(metadata: TableMetadata): String = new String(TableMetadataJson.write(metadata), UTF_8)

  private def throughPeer(text: String): String = TableMetadataParser.toJson(TableMetadataParser.fromJson(text))

  test("table metadata of this library does not change when Apache Iceberg reads and writes it") {
    forAll(tables) { metadata =>
      val readBack = TableMetadataJson.read("t.metadata.json", throughPeer(write(metadata)).getBytes(UTF_8))
      assert(readBack == metadata)
    }
  }

  test("table metadata of Apache Iceberg does not change when this library reads and writes it") {
    forAll(tables) { metadata =>
      val theirs = throughPeer(write(metadata))
      val ours = write(TableMetadataJson.read("t.metadata.json", theirs.getBytes(UTF_8)))
      assert(json.readTree(throughPeer(ours)) == json.readTree(theirs))
    }
  }
}

object PeerMetadataSuite {

  /** Removes or replaces parts that the specification allows, but that Apache Iceberg 1.12 rejects or cannot read. */
  def commonMetadata(m: TableMetadata): TableMetadata = {
    val schemas = m.schemas.map(s => Schema(s.schemaId, s.fields.map(field)))
    val current = schemas.find(_.schemaId == m.currentSchemaId).get
    def fits(sources: Vector[Int], transform: Transform): Boolean = sources.size == 1 &&
      current.fields.exists(f => f.id == sources.head && isAllowed(f.fieldType) && transform.canTransform(f.fieldType))
    m.edited(
      schemas = schemas,
      specs = m.specs.map(s => s.copy(fields = s.fields.filter(f => fits(f.sourceIds, f.transform)))),
      sortOrders = m.sortOrders.filter(s => !s.isSorted || s.fields.forall(f => fits(f.sourceIds, f.transform))),
      defaultSortOrderId = SortOrder.Unsorted.orderId,
      snapshots = m.snapshots.map(s => s.copy(summary = s.summary + (Snapshot.OperationKey -> "append"))),
      statistics = m.statistics.map(_.copy(keyMetadata = None))
    )
  }

  private def isAllowed(t: Type): Boolean = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType | _: NestedType => false
    case _ => true
  }

  /** Makes the name unique, and a field of type `unknown` optional, because Apache Iceberg requires both. */
  private def field(f: NestedField): NestedField = f.copy(
    name = s"${f.name}-${f.id}",
    fieldType = typeOf(f.fieldType),
    required = f.required && f.fieldType != UnknownType,
    initialDefault = f.initialDefault.filter(isSupported),
    writeDefault = f.writeDefault.filter(isSupported)
  )

  /** Returns whether Apache Iceberg supports the default: it must be a finite value of a primitive type. */
  private def isSupported(default: DefaultValue): Boolean = default match {
    case DefaultValue.OfPrimitive(Literal.FloatLiteral(v)) => !v.isNaN && !v.isInfinite
    case DefaultValue.OfPrimitive(Literal.DoubleLiteral(v)) => !v.isNaN && !v.isInfinite
    case DefaultValue.OfPrimitive(_) => true
    case DefaultValue.EmptyStruct | _: DefaultValue.OfList | _: DefaultValue.OfMap => false
  }

  private def typeOf(t: Type): Type = t match {
    case StructType(fields) => StructType(fields.map(field))
    case l: ListType =>
      l.copy(element = typeOf(l.element), elementRequired = l.elementRequired && l.element != UnknownType)
    case m: MapType => m.copy(
        key = if (m.key == UnknownType) IntType else typeOf(m.key),
        value = typeOf(m.value),
        valueRequired = m.valueRequired && m.value != UnknownType
      )
    case other => other
  }
}
