package iceberglite.peer

import scala.collection.JavaConverters._
import scala.util.{Failure, Success, Try}

import org.apache.iceberg.{Schema => PeerSchema, SchemaParser, UpdateSchema => PeerUpdate}
import org.apache.iceberg.expressions.{Expressions => PeerExpressions}
import org.apache.iceberg.types.{Type => PeerType}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.EvolutionRules
import iceberglite.spec.{FormatVersion, IcebergError, SampleTables}
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.json.{NameMappingJson, SchemaJson}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Bucket, Day, UnboundPartitionField, UnboundSortField}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{ColumnPath, MappedField, NameMapping, Schema}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.update.{MetadataUpdate, SchemaEdit, SchemaChanges, PartitionSpecChanges}
import iceberglite.spec.update.SchemaEdit._
import iceberglite.table.{CommitContext, Environment, MemoryFileIO}
import iceberglite.table.action.UpdateSchema

/**
 * Compares random changes to columns, one per commit, with Apache Iceberg. Either both libraries reject a change, or
 * the resulting columns, ids and name mappings are equal. The exceptions are the changes for which
 * `isAcceptedByPeer` or `isOfV3` returns true.
 */
class SchemaChangesPeerSuite extends AnyFunSuite {
  private def withNameMapping(m: TableMetadata): TableMetadata = m.edited(properties =
    m.properties + (TableProperty.NameMappingDefault.key -> NameMappingJson.toJson(NameMapping.of(m.schema)))
  )

  /** Returns a table with two partition specs, a sort order and a name mapping. */
  private def base(version: FormatVersion): TableMetadata = {
    val description = SampleTables.description(version, UnboundPartitionField(Vector("ts"), Day))
    val sorted = description.copy(order = Vector(UnboundSortField(Vector("location", "lon"))))
    val first = sorted.metadata(SampleTables.Uuid, SampleTables.CreatedMs)
    val changes = PartitionSpecChanges(first).addField(Vector("id"), Bucket(4), Some("a")).removeField("ts_day").updates
    withNameMapping(MetadataUpdate.applyAll(first, changes, first.lastUpdatedMs))
  }

  private def toPeerSchema(fields: NestedField*): PeerSchema =
    SchemaParser.fromJson(SchemaJson.toJson(Schema(0, fields.toVector)))

  private def toPeerType(t: Type): PeerType = {
    var last = 100000
    val fresh = Schema.withFreshIds(Vector(NestedField.optional(0, "x", t)), () => { last += 1; last })
    toPeerSchema(fresh: _*).findField("x").`type`
  }

  private def editWithPeer(u: PeerUpdate, edit: SchemaEdit): PeerUpdate = edit match {
    case Add(parent, name, t, required, default) =>
      val under = if (parent.isEmpty) null else parent.mkString(".")
      val literal = default.map(d => PeerExpressions.lit(Int.box(d.value))).orNull
      if (required) u.addRequiredColumn(under, name, toPeerType(t), null, literal)
      else u.addColumn(under, name, toPeerType(t), null, literal)
    case Drop(_) => u.deleteColumn(edit.name)
    case Rename(_, newName) => u.renameColumn(edit.name, newName)
    case Retype(_, t) => u.updateColumn(edit.name, toPeerType(t).asPrimitiveType)
    case Comment(_, doc) => u.updateColumnDoc(edit.name, doc)
    case MakeOptional(_) => u.makeColumnOptional(edit.name)
    case Require(_) => u.requireColumn(edit.name)
    case First(_) => u.moveFirst(edit.name)
    case After(path, sibling) => u.moveAfter(edit.name, (path.init :+ sibling).mkString("."))
    case Identify(_) => u.setIdentifierFields(Seq(edit.name).asJava)
  }

  private def updateWithLite(m: TableMetadata, edit: SchemaEdit): Try[TableMetadata] = Try {
    val change = new UpdateSchema(edit(_)).changeFor(m, SchemaChangesPeerSuite.Context)
    MetadataUpdate.applyAll(m, change.updates, m.lastUpdatedMs)
  }

  private def updateWithPeer(m: TableMetadata, edit: SchemaEdit): Try[TableMetadata] = Try {
    val peer = new PeerTable(m)
    editWithPeer(peer.table.updateSchema(), edit).commit()
    peer.committed
  }

  private def mapping(m: TableMetadata): NameMapping = {
    def sorted(fields: Vector[MappedField]): Vector[MappedField] =
      fields.map(f => f.copy(names = f.names.sorted, fields = sorted(f.fields)))
    NameMapping(sorted(NameMappingJson.parse("t", m.properties(TableProperty.NameMappingDefault.key)).fields))
  }

  /**
   * Returns whether only Apache Iceberg accepts the change. Apache Iceberg accepts a new name or comment of a list
   * element, a map key or a map value, although the change has no effect.
   */
  private def isAcceptedByPeer(schema: Schema, edit: SchemaEdit): Boolean = edit match {
    case _: Rename | _: Comment => edit.path.size > 1 && !isStruct(schema, edit.path.init)
    case _ => false
  }

  /** Returns whether the change promotes a date to a timestamp. Apache Iceberg 1.12 does not support this promotion. */
  private def isOfV3(schema: Schema, edit: SchemaEdit): Boolean = edit match {
    case Retype(path, to) =>
      ColumnPath.require(schema, path, caseSensitive = true).last.fieldType == Type.DateType && to == Type.TimestampType
    case _ => false
  }

  private def isStruct(schema: Schema, path: Vector[String]): Boolean =
    ColumnPath.require(schema, path, caseSensitive = true).last.fieldType.isInstanceOf[Type.StructType]

  private def compare(m: TableMetadata, edit: SchemaEdit): TableMetadata = withClue(s"$edit on ${m.schema}: ") {
    (updateWithLite(m, edit), updateWithPeer(m, edit)) match {
      case (Success(a), Success(b)) =>
        assert(a.schema == b.schema)
        assert(a.lastColumnId == b.lastColumnId)
        assert(mapping(a) == mapping(b))
        a
      case (Failure(_: IcebergError), Failure(_)) => m
      case (Failure(_: IcebergError), Success(_)) if isAcceptedByPeer(m.schema, edit) => m
      case (Success(a), Failure(_)) if isOfV3(m.schema, edit) => a
      case (a, b) => fail(s"this library: ${a.map(_.schema)}, Apache Iceberg: ${b.map(_.schema)}")
    }
  }

  private def sequence(version: FormatVersion): Unit =
    (1L to 80L).foreach(SchemaEdit.run(base(version), 12, _)(compare))

  test(
    "random column changes to a version 2 table give the same result as in Apache Iceberg",
    Slow,
    EvolutionRules.sameAsApacheIceberg
  ) {
    sequence(V2)
  }

  test(
    "random column changes to a version 3 table give the same result as in Apache Iceberg",
    EvolutionRules.sameAsApacheIceberg
  ) {
    sequence(V3)
  }

  test("merging columns by name gives the same result as in Apache Iceberg", EvolutionRules.unionByName) {
    val x = NestedField.required(3, "x", Type.LongType)
    val point = Type.StructType(Vector(x, NestedField.optional(4, "z", Type.IntType)))
    val mergedColumns = Seq(
      Seq(NestedField.required(1, "id", Type.LongType), NestedField.optional(2, "new", Type.StringType)),
      Seq(NestedField.optional(1, "points", Type.ListType(2, point, elementRequired = true))),
      Seq(NestedField.optional(1, "amount", Type.DecimalType(5, 2))),
      Seq(NestedField.optional(2, "id", Type.IntType, "Key")),
      Seq(NestedField.required(1, "id", Type.StringType)),
      Seq(NestedField.required(1, "location", Type.IntType)),
      Seq(NestedField.optional(1, "id", Type.StructType(Vector(NestedField.optional(2, "a", Type.IntType)))))
    )
    for (fields <- mergedColumns) withClue(fields) {
      val m = base(V3)
      val merged = Try(MetadataUpdate.applyAll(
        m,
        SchemaChanges(m).unionByNameWith(Schema(0, fields.toVector)).updates,
        m.lastUpdatedMs
      ))
      val mergedByPeer = Try {
        val peer = new PeerTable(m)
        peer.table.updateSchema().unionByNameWith(toPeerSchema(fields: _*)).commit()
        peer.committed
      }
      (merged, mergedByPeer) match {
        case (Success(a), Success(b)) => assert(a.schema == b.schema)
        case (a, b) =>
          assert(a.isFailure && b.isFailure, s"this library: ${a.map(_.schema)}, Apache Iceberg: ${b.map(_.schema)}")
      }
    }
  }
}

object SchemaChangesPeerSuite {
  private val Context = CommitContext(new MemoryFileIO, "lite.db.t", "commit", Map.empty, Environment.system)
}
