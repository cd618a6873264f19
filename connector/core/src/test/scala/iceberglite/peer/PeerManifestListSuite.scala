package iceberglite.peer

import org.apache.iceberg.PeerManifests
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V1, V3}
import iceberglite.spec.file.ManifestFile
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.{ManifestLists, Manifests}
import iceberglite.tree.manifestlist.ManifestListHeader

/** Tests that iceberg-lite and Apache Iceberg read each other's manifest lists, and write equal manifest lists. */
class PeerManifestListSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 100)

  private val Path = "memory:/snap.avro"
  private val SnapshotId = 99L
  private val SequenceNumber = 60L

  private def firstRowId(version: FormatVersion): Option[Long] = if (version >= V3) Some(500000L) else None

  /** Generates manifest list entries. Some manifests are new: writing the list assigns their sequence numbers. */
  private def manifests(version: FormatVersion): Gen[Vector[ManifestFile]] = {
    val one = Gen.zip(ManifestGenerators.manifest(version), Gen.oneOf(true, false)).map { case (m, isNew) =>
      if (!isNew) m
      else m.copy(
        sequenceNumber = Manifests.Unassigned,
        minSequenceNumber = if (m.minSequenceNumber % 2 == 0) m.minSequenceNumber else Manifests.Unassigned,
        addedSnapshotId = SnapshotId,
        firstRowId = None
      )
    }
    Gen.choose(0, 8).flatMap(Gen.listOfN(_, one)).map(_.toVector)
  }

  private def readWithLite(bytes: Array[Byte]): Vector[ManifestFile] = {
    val io = new MemoryFileIO
    io.write(Path, bytes)
    ManifestLists.read(io, Path)
  }

  private def readWithPeer(bytes: Array[Byte], version: FormatVersion): Vector[ManifestFile] = {
    val io = new InMemoryFileIO
    io.addFile(Path, bytes)
    PeerManifests.readList(io, Path).map(PeerFiles.fromPeer(_)).map { m =>
      // Version 1 has no sequence numbers; Apache Iceberg then returns 0.
      assert(version > V1 || m.sequenceNumber == 0 && m.minSequenceNumber == 0)
      m
    }
  }

  private def writeWithLite(
      version: FormatVersion,
      manifests: Vector[ManifestFile]
  ): (Array[Byte], Vector[ManifestFile]) = {
    val io = new MemoryFileIO
    val row = firstRowId(version)
    val (_, written) =
      ManifestLists.write(
        io,
        Path,
        ManifestListHeader(version, SnapshotId, Some(SnapshotId - 1), SequenceNumber, row),
        manifests
      )
    (io.read(Path), written)
  }

  private def writeWithPeer(version: FormatVersion, manifests: Vector[ManifestFile]): Array[Byte] = {
    val io = new InMemoryFileIO
    val theirs = manifests.map(PeerFiles.toPeer)
    val number = if (version == V1) 0L else SequenceNumber
    PeerManifests.writeList(io, Path, version.number, SnapshotId, number, firstRowId(version), theirs)
    io.newInputFile(Path).newStream().readAllBytes()
  }

  for (version <- FormatVersion.adopted) {
    test(
      s"Apache Iceberg reads a version $version manifest list of this library unchanged",
      ManifestRules.listFields,
      ManifestRules.carriedManifest
    ) {
      forAll(manifests(version)) { sample =>
        val (bytes, written) = writeWithLite(version, sample)
        assert(readWithPeer(bytes, version) == written)
        assert(readWithLite(bytes) == written)
      }
    }

    test(
      s"both libraries write the same version $version manifest list, with the same sequence numbers and row ids",
      ManifestRules.listFields,
      ManifestRules.firstRowIds
    ) {
      forAll(manifests(version)) { sample =>
        val bytes = writeWithPeer(version, sample)
        assert(readWithLite(bytes) == readWithPeer(bytes, version))
        assert(readWithLite(bytes) == writeWithLite(version, sample)._2)
      }
    }
  }
}
