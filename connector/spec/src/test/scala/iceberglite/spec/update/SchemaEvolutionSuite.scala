package iceberglite.spec.update

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.EvolutionRules
import iceberglite.spec.{IcebergError, SampleTables}
import iceberglite.spec.FormatVersion.V3
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Bucket, UnboundPartitionField}
import iceberglite.spec.types.{DefaultValue, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/** Tests properties of schemas that hold after every sequence of column changes. */
class SchemaEvolutionSuite extends AnyFunSuite {
  private val seeds = 1L to 400L

  private val base = SampleTables.empty(V3, UnboundPartitionField(Vector("day"), Bucket(4)), SampleTables.byDay)

  /** Applies random changes. @param check compares the table before and after an accepted change */
  private def always(check: (TableMetadata, SchemaEdit, TableMetadata) => Any): Unit = seeds.foreach { seed =>
    SchemaEdit.run(base, 15, seed) { (before, edit) =>
      try {
        val after = MetadataUpdate.applyAll(before, edit(SchemaChanges(before)).updates, before.lastUpdatedMs)
        withClue(s"$edit, seed $seed: ")(check(before, edit, after))
        after
      } catch { case _: IcebergError => before }
    }
  }

  test("a field id is never reused", EvolutionRules.freshIds, EvolutionRules.newSchema) {
    always { (before, _, after) =>
      val existingIds = before.schema.byId.keySet
      assert((after.schema.byId.keySet -- existingIds).forall(_ > before.lastColumnId))
      assert(after.lastColumnId >= after.schema.highestFieldId && after.lastColumnId >= before.lastColumnId)
      assert(before.schemas.forall(after.schemas.contains))
    }
  }

  test(
    "existing files stay readable, because a field keeps its type or gets a wider type",
    EvolutionRules.oldDataReadable
  ) {
    def readable(old: Type, now: Type): Boolean = (old, now) match {
      case (_: StructType, _: StructType) => true
      case (ListType(a, _, _), ListType(b, _, _)) => a == b
      case (a: MapType, b: MapType) => a.keyId == b.keyId && a.valueId == b.valueId && a.key == b.key
      case (a: PrimitiveType, b: PrimitiveType) => canPromote(a, b, V3)
      case _ => false
    }
    always { (_, _, after) =>
      for (old <- after.schemas; (id, field) <- old.byId; now <- after.schema.byId.get(id)) {
        assert(readable(field.fieldType, now.fieldType), s"$field became $now")
        assert(old.parents.get(id) == after.schema.parents.get(id), s"$field moved out of its struct")
        assert(field.optional || now.optional || field.required == now.required)
        assert(field.required || now.optional, s"$field became $now")
      }
    }
  }

  test(
    "an initial default never changes, except that it is promoted with its column",
    EvolutionRules.initialDefaultStays
  ) {
    always { (before, _, after) =>
      for ((id, field) <- before.schema.byId; now <- after.schema.byId.get(id)) {
        assert(now.initialDefault == field.initialDefault.map(DefaultValue.promote(field.name, _, now.fieldType)))
      }
    }
  }

  test("errors contain the path of the field", EvolutionRules.errorsNamePaths) {
    seeds.foreach(SchemaEdit.run(base, 15, _) { (before, edit) =>
      try MetadataUpdate.applyAll(before, edit(SchemaChanges(before)).updates, before.lastUpdatedMs)
      catch {
        case e: IcebergError =>
          val named = edit match {
            case SchemaEdit.Add(parent, _, _, _, _) => Seq(edit.name, parent.mkString("."))
            case SchemaEdit.Rename(path, newName) => Seq(edit.name, (path.init :+ newName).mkString("."))
            // The expected path ends at the first missing part of the path.
            case _ => edit.path.indices.map(i => edit.path.take(i + 1).mkString("."))
          }
          assert(named.exists(n => n.nonEmpty && e.getMessage.contains(n)), s"$edit: ${e.getMessage}")
          before
      }
    })
  }
}
