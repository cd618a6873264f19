package iceberglite.tree

import iceberglite.catalog.{HostileMetadataSuite, OwnedLocationsSuite}
import iceberglite.inspect.{MetadataTablesSuite, PartitionsTableSuite}
import iceberglite.maintenance.TablePathRewriteSuite
import iceberglite.scan._
import iceberglite.sim.SimulationSuite
import iceberglite.spec.FormatVersion
import iceberglite.table._

// Each of these suites runs the tests of a suite of `core`, with SmallRoots as the format of metadata trees.

class RootSimulationSuite extends SimulationSuite {
  override protected def allHistories: Int = 300
}
class RootTableScanSuite extends TableScanSuite
class RootDeletePlanSuite extends DeletePlanSuite {
  override protected def allPlans: Int = 75
}
class RootPruningSuite extends PruningSuite {
  override protected def allPlans: Int = 150
}
class RootLimitedPlanSuite extends LimitedPlanSuite
class RootChangelogScanSuite extends ChangelogScanSuite {
  override protected def versionsInFastTier: Set[FormatVersion] = Set(FormatVersion.V4)
}
class RootIsolationSuite extends IsolationSuite
class RootRowDeltaSuite extends RowDeltaSuite
class RootFileActionsSuite extends FileActionsSuite
class RootHostileMetadataSuite extends HostileMetadataSuite
class RootOwnedLocationsSuite extends OwnedLocationsSuite
class RootMetadataTablesSuite extends MetadataTablesSuite
class RootPartitionsTableSuite extends PartitionsTableSuite
class RootTablePathRewriteSuite extends TablePathRewriteSuite
