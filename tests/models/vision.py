# Networks for pictures: ResNet-50, MobileNetV2, EfficientNet-B0, ViT, and a detector's neck and head.
# Sources: He et al., arXiv:1512.03385; Sandler et al., arXiv:1801.04381; Tan and Le, arXiv:1905.11946; Dosovitskiy
# et al., arXiv:2010.11929; the detector follows the published diagrams of YOLOv5 and YOLOv8.
import torch
import torch.nn.functional as F
from torch import nn

from attention import scaled_products

resnet50 = dict(width=64, blocks=(3, 4, 6, 3), classes=1000)
tiny_resnet = dict(width=4, blocks=(1, 2), classes=10)
mobilenetv2 = dict(stem=32, last=1280, classes=1000,
                   stages=[(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                           (6, 160, 3, 2), (6, 320, 1, 1)])
tiny_mobilenet = dict(stem=4, last=24, classes=10, stages=[(1, 4, 1, 1), (6, 8, 2, 2)])
efficientnet_b0 = dict(stem=32, last=1280, classes=1000,
                       stages=[(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                               (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)])
tiny_efficientnet = dict(stem=8, last=24, classes=10, stages=[(1, 8, 1, 1, 3), (4, 12, 2, 2, 5)])
vit_b16 = dict(width=768, layers=12, heads=12, patch=16, image=224, classes=1000)
tiny_vit = dict(width=16, layers=2, heads=2, patch=4, image=12, classes=10)
yolo_n = dict(width=16, classes=80)
tiny_yolo = dict(width=4, classes=3)


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.downsample = None
        if stride != 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False),
                                            nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["width"]
        self.conv1, self.bn1 = nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width)
        layers, inputs = [], width
        for i, blocks in enumerate(config["blocks"]):
            for j in range(blocks):
                layers.append(Bottleneck(inputs, width << i, 2 if i > 0 and j == 0 else 1))
                inputs = 4 * (width << i)
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(inputs, config["classes"])

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = F.adaptive_avg_pool2d(self.layers(x), 1)
        return self.fc(torch.flatten(x, 1))


def conv_norm(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU6):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, expansion, channels, stride):
        super().__init__()
        width = inputs * expansion
        wide = [conv_norm(inputs, width, 1)] if expansion != 1 else []
        self.layers = nn.Sequential(*wide, conv_norm(width, width, 3, stride, width),
                                    conv_norm(width, channels, 1, activation=None))
        self.residual = stride == 1 and inputs == channels

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Module):
    def __init__(self, config):
        super().__init__()
        layers, width = [conv_norm(3, config["stem"], 3, 2)], config["stem"]
        for expansion, channels, blocks, stride in config["stages"]:
            for i in range(blocks):
                layers.append(InvertedResidual(width, expansion, channels, stride if i == 0 else 1))
                width = channels
        self.features = nn.Sequential(*layers, conv_norm(width, config["last"], 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(config["last"], config["classes"]))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(x, 1))


class MbConv(nn.Module):
    """Depthwise in the middle of 1x1 convolutions, channels weighted by squeeze and excitation."""

    def __init__(self, inputs, expansion, channels, stride, kernel):
        super().__init__()
        width, squeezed = inputs * expansion, max(1, inputs // 4)
        self.expand = conv_norm(inputs, width, 1, activation=nn.SiLU) if expansion != 1 else nn.Identity()
        self.depthwise = conv_norm(width, width, kernel, stride, width, nn.SiLU)
        self.squeeze, self.excite = nn.Conv2d(width, squeezed, 1), nn.Conv2d(squeezed, width, 1)
        self.project = conv_norm(width, channels, 1, activation=None)
        self.residual = stride == 1 and inputs == channels

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        weights = torch.sigmoid(self.excite(F.silu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))))
        y = self.project(weights * y)
        return x + y if self.residual else y


class EfficientNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        layers, width = [conv_norm(3, config["stem"], 3, 2, activation=nn.SiLU)], config["stem"]
        for expansion, channels, blocks, stride, kernel in config["stages"]:
            for i in range(blocks):
                layers.append(MbConv(width, expansion, channels, stride if i == 0 else 1, kernel))
                width = channels
        self.features = nn.Sequential(*layers, conv_norm(width, config["last"], 1, activation=nn.SiLU))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(config["last"], config["classes"]))

    def forward(self, x):
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(self.features(x), 1), 1))


class VitLayer(nn.Module):
    """One projection for q, k and v, taken apart by unbind."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        x = x + self.proj(scaled_products(q, k, v).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Vit(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, patch = config["width"], config["patch"]
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, (config["image"] // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(*(VitLayer(width, config["heads"]) for _ in range(config["layers"])))
        self.norm = nn.LayerNorm(width, 1e-6)
        self.head = nn.Linear(width, config["classes"])

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.layers(x))[:, 0])


class Csp(nn.Module):
    """Channels in halves, one through bottlenecks, all of it joined."""

    def __init__(self, inputs, outputs):
        super().__init__()
        half = outputs // 2
        self.enter = conv_norm(inputs, 2 * half, 1, activation=nn.SiLU)
        self.a, self.b = (conv_norm(half, half, 3, activation=nn.SiLU) for _ in range(2))
        self.leave = conv_norm(3 * half, outputs, 1, activation=nn.SiLU)

    def forward(self, x):
        first, second = self.enter(x).chunk(2, dim=1)
        return self.leave(torch.cat([first, second, second + self.b(self.a(second))], dim=1))


class Pooled(nn.Module):
    """Three poolings one after the other, joined (SPPF)."""

    def __init__(self, width):
        super().__init__()
        self.enter = conv_norm(width, width // 2, 1, activation=nn.SiLU)
        self.leave = conv_norm(2 * width, width, 1, activation=nn.SiLU)

    def forward(self, x):
        parts = [self.enter(x)]
        for _ in range(3):
            parts.append(F.max_pool2d(parts[-1], 5, 1, 2))
        return self.leave(torch.cat(parts, dim=1))


class Yolo(nn.Module):
    """Three levels down, pooling, one level up again, and boxes at both: centres on a grid, sizes by softmax over
    bins (distribution focal loss)."""

    bins = 16

    def __init__(self, config):
        super().__init__()
        w, self.classes = config["width"], config["classes"]
        silu = dict(activation=nn.SiLU)
        self.stem = nn.Sequential(conv_norm(3, w, 3, 2, **silu), conv_norm(w, 2 * w, 3, 2, **silu), Csp(2 * w, 2 * w))
        self.down = nn.Sequential(conv_norm(2 * w, 4 * w, 3, 2, **silu), Csp(4 * w, 4 * w), Pooled(4 * w))
        self.up = Csp(6 * w, 2 * w)
        self.boxes = nn.ModuleList(nn.Conv2d(c, 4 * self.bins, 1) for c in (2 * w, 4 * w))
        self.scores = nn.ModuleList(nn.Conv2d(c, self.classes, 1) for c in (2 * w, 4 * w))
        self.dfl = nn.Conv2d(self.bins, 1, 1, bias=False)

    def forward(self, x):
        fine = self.stem(x)
        coarse = self.down(fine)
        fine = self.up(torch.cat([F.interpolate(coarse, scale_factor=2.0, mode="nearest"), fine], dim=1))
        levels = [torch.cat([box(y), score(y)], dim=1).flatten(2)
                  for box, score, y in zip(self.boxes, self.scores, (fine, coarse))]
        boxes, scores = torch.cat(levels, dim=2).split((4 * self.bins, self.classes), dim=1)
        batch, _, anchors = boxes.shape
        sides = self.dfl(boxes.view(batch, 4, self.bins, anchors).transpose(2, 1).softmax(1))
        low, high = sides.view(batch, 4, anchors).chunk(2, dim=1)
        return torch.cat([(high - low) / 2, high + low, scores.sigmoid()], dim=1)
